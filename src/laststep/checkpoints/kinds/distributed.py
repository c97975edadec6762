"""Is a checkpoint of torch.distributed.checkpoint whole?

`.metadata` is a pickle that says where in which `.distcp` file each piece lies; each piece is a file of torch.save.
From torch/distributed/checkpoint/filesystem.py. FSDP under accelerate makes one such folder for the model and one for
the optimiser: `pytorch_model_fsdp_0/` and `optimizer_0/` (accelerate/utils/fsdp_utils.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from laststep.checkpoints import problems
from laststep.checkpoints.contents import ReadCheckpoint, Reading, unreadable
from laststep.checkpoints.formats import pickle_file, torch_archive
from laststep.checkpoints.formats.imposters import find_imposter
from laststep.checkpoints.formats.look import Look
from laststep.checkpoints.formats.pickle_values import as_mapping, plain_attributes
from laststep.records.checkpoint import Problem, ProblemKind
from laststep.records.text import Text

METADATA = ".metadata"
FSDP_FOLDERS = ("pytorch_model_fsdp_0", "optimizer_0")
_FOR_METADATA = Text(en="it says what lies where in the .distcp files", zh="它说明 .distcp 文件中各部分的位置")
_FOR_FILE = Text(en=".metadata names it", zh=".metadata 中有它")
_FOR_FSDP = Text(en="FSDP saves model and optimiser side by side", zh="FSDP 会同时保存模型和优化器")
_NO_PLACES = Text(en="it names no places", zh="其中没有位置信息")
_ONE_SIDED = Text(en="{name!r} is described or placed, and not both", zh="{name!r} 只有描述或只有位置")
_GAP = Text(en="its pieces do not follow one another at byte {at:,}", zh="各部分在第 {at:,} 字节处不相接")
_WRONG_END = Text(
    en="it has {size:,} bytes, and .metadata describes {expected:,}",
    zh="文件有 {size:,} 字节，而 .metadata 描述了 {expected:,} 字节",
)


@dataclass(frozen=True, slots=True, order=True)
class _Piece:
    """One saved tensor or object."""

    file: str
    offset: int
    length: int
    is_packed: bool  # by an extension, such as a compression


def judge(checkpoint: ReadCheckpoint) -> Iterator[Problem]:
    """Hold every folder's `.distcp` files against its `.metadata`, and look into each piece."""
    files = checkpoint.contents.files
    folders = {
        name.rpartition("/")[0] for name in files if name.endswith(".distcp") or name.rpartition("/")[2] == METADATA
    }
    if folders & set(FSDP_FOLDERS):
        for folder in FSDP_FOLDERS:
            # Accelerate gathers the whole of either where it is told to; then there is one file.
            gathered = (
                "pytorch_model_fsdp.bin",
                "optimizer.bin",
                "optimizer.pt",
                "model.safetensors",
                "adapter_model.safetensors",
            )
            if folder not in folders and not any(map(checkpoint.has, gathered)):
                yield problems.missing(f"{folder}/{METADATA}", _FOR_FSDP)
    for folder in sorted(folders):
        yield from _judge_folder(checkpoint, f"{folder}/" if folder else "")


def _judge_folder(checkpoint: ReadCheckpoint, prefix: str) -> Iterator[Problem]:
    metadata = prefix + METADATA
    if not checkpoint.has(metadata):
        yield problems.missing(metadata, _FOR_METADATA)
        return
    if checkpoint.readings[metadata].problems:
        return
    pieces = sorted(_read_pieces(checkpoint, metadata, prefix))
    if not pieces:
        yield problems.torn(metadata, _NO_PLACES)
    yield from _judge_names(checkpoint, metadata)
    for name in dict.fromkeys(piece.file for piece in pieces):
        yield from _judge_file(checkpoint, name, [piece for piece in pieces if piece.file == name])


def _judge_names(checkpoint: ReadCheckpoint, metadata: str) -> Iterator[Problem]:
    """Every name has a description and a place; a flipped bit leaves it with one of them."""
    facts = plain_attributes(checkpoint.value(metadata))
    described = set(as_mapping(facts.get("state_dict_metadata")))
    placed = {plain_attributes(index).get("fqn") for index in as_mapping(facts.get("storage_data"))}
    for name in sorted(map(str, described ^ placed)) if described else ():
        yield problems.torn(metadata, _ONE_SIDED, name=name)
        return


def _read_pieces(checkpoint: ReadCheckpoint, metadata: str, prefix: str) -> Iterator[_Piece]:
    """Read the places out of the pickle."""
    stored = as_mapping(plain_attributes(checkpoint.value(metadata)).get("storage_data"))
    for place in stored.values():
        facts = plain_attributes(place)
        match facts.get("relative_path"), facts.get("offset"), facts.get("length"):
            case str(path), int(offset), int(length):
                yield _Piece(prefix + path, offset, length, bool(facts.get("transform_descriptors")))


def _judge_file(checkpoint: ReadCheckpoint, name: str, pieces: list[_Piece]) -> Iterator[Problem]:
    size = checkpoint.contents.files.get(name)
    if size is None:
        yield problems.missing(name, _FOR_FILE)
        return
    try:
        imposter = find_imposter(Look(path=checkpoint.contents.path(name), name=name, size=size))
        found = [imposter] if imposter else [*_find_gap(name, pieces, size)]
        yield from found or _judge_pieces(checkpoint, pieces)
    except OSError as error:
        yield unreadable(name, error)


def _find_gap(name: str, pieces: list[_Piece], size: int) -> Iterator[Problem]:
    at = 0
    for piece in pieces:
        if piece.offset != at or piece.length < 0:
            yield problems.torn(name, _GAP, at=at)
            return
        at += piece.length
    if at != size:
        yield problems.torn(name, _WRONG_END, size=size, expected=at)


def _judge_pieces(checkpoint: ReadCheckpoint, pieces: list[_Piece]) -> Iterator[Problem]:
    for piece in pieces:
        if piece.is_packed or not piece.length:
            continue
        look = Look(
            path=checkpoint.contents.path(piece.file),
            name=piece.file,
            size=piece.length,
            is_deep=checkpoint.is_deep,
            reads_data=piece.file not in checkpoint.same,
            tick=checkpoint.tick,
        )
        found = _read_piece(look, piece).problems
        yield from found
        if found and found[0].kind is not ProblemKind.NOT_FINITE:
            return


def _read_piece(look: Look, piece: _Piece) -> Reading:
    with look.path.open("rb") as file:
        file.seek(piece.offset)
        is_archive = file.read(4) == torch_archive.ZIP_START
    if is_archive:
        return torch_archive.read(look, offset=piece.offset)
    return pickle_file.read(look, offset=piece.offset)

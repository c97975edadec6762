"""Which damages does a disk, a network, a crash or a hand do to a checkpoint?

Each takes a checkpoint and a source of random choices, damages it, and says what has to be found. None of them knows
how laststep looks at files.
"""

import json
import random
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from laststep.records.checkpoint import ProblemKind as Kind

PAGE = 4096
MANIFEST = "laststep-manifest.json"
PROSE = (".md", ".py", ".txt", ".jinja", ".model", ".tiktoken")  # a resume reads none of it, or cannot tell
OPTIONAL = {"additional_config.json", "generation_config.json"}
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {}\n"


@dataclass(frozen=True)
class Done:
    """What was done, what has to be found, and whether structure alone can show it."""

    what: str
    kinds: set[Kind]
    needs_manifest: str = ""  # why it cannot be seen without one
    is_deep: bool = False


@dataclass
class Patient:
    """A copy of a checkpoint that is going to be damaged."""

    folder: Path
    other: Path  # the same run at another step
    choices: random.Random
    kind: str
    files: list[str] = field(default_factory=list)

    def __post_init__(self):
        names = sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file())
        self.files = [name for name in names if name != MANIFEST and (self.folder / name).stat().st_size]

    def pick(self, fits=lambda _: True):
        return self.choices.choice([name for name in self.files if fits(name)])

    def needed(self, name):
        return not name.endswith(PROSE) and name not in OPTIONAL and not name.endswith((".jinja", "tokenizer.json"))


def is_weights(name):
    return name.endswith((".safetensors", ".bin", ".pt", ".distcp")) and "training_args" not in name


def flip(patient: Patient) -> Done:
    """One bit, anywhere."""
    name = patient.pick()
    path = patient.folder / name
    data = bytearray(path.read_bytes())
    at, bit = patient.choices.randrange(len(data)), patient.choices.randrange(8)
    reason = why_invisible(name, data, at)
    data[at] ^= 1 << bit
    path.write_bytes(data)
    kinds = {Kind.TORN, Kind.STALE_POINTER, Kind.WRONG_STEP, Kind.WRONG_SHAPE, Kind.WRONG_WORLD_SIZE, Kind.MISSING}
    if name.endswith(".metadata") or bytes(data[:4]) != b"PK\x03\x04":
        kinds.add(Kind.MALICIOUS)  # a name that lost a bit is one that no checkpoint needs
    return Done(f"flip {name} byte {at} of {len(data)}", kinds, reason)


def why_invisible(name, data, at):
    """Tell what a flipped bit changes where no checksum and no structure can show it."""
    if name.endswith(".safetensors"):
        return "tensor data" if at >= 8 + struct.unpack_from("<Q", data)[0] else ""
    if name.endswith((".json", *PROSE)):
        return "text that stays text"
    if name.endswith((".pt", ".pth", ".bin")) and bytes(data[:4]) != b"PK\x03\x04":
        return "tensor data and values of a format without checksums"
    if name.endswith(".metadata"):
        return "values of a pickle without checksums"
    return ""


def truncate(patient: Patient) -> Done:
    name = patient.pick(patient.needed)
    path = patient.folder / name
    size = path.stat().st_size
    keep = patient.choices.randrange(size)
    with path.open("r+b") as file:
        file.truncate(keep)
    return Done(f"truncate {name} to {keep} of {size}", {Kind.TORN, Kind.STALE_POINTER, Kind.MISSING})


def lose(patient: Patient) -> Done:
    name = patient.pick(patient.needed)
    (patient.folder / name).unlink()
    return Done(f"lose {name}", {Kind.MISSING, Kind.STALE_POINTER})


def swap(patient: Patient) -> Done:
    """A file of another step in its place, found by the step within or by its hash."""
    knows_step = ("optimizer.pt", "scheduler.pt", "trainer_state.json", "optim_states.pt", "model_states.pt")
    names = [name for name in patient.files if is_weights(name) or name.endswith(knows_step) or "rng" in name]
    name = patient.choices.choice(names)
    source = patient.other / name
    if not source.exists():  # DeepSpeed's folders carry the step in their names
        step = patient.other.name.rpartition("-")[2]
        source = patient.other / f"global_step{step}" / Path(name).name
    is_same = source.read_bytes() == (patient.folder / name).read_bytes()
    if is_same:
        return Done("nothing: no random number was drawn between the steps", set())
    shutil.copyfile(source, patient.folder / name)
    reason = "" if name.endswith(knows_step) else "weights and random states, which carry no step"
    return Done(f"swap {name}", {Kind.WRONG_STEP, Kind.CHANGED}, reason)


def zero_page(patient: Patient) -> Done:
    """A page that the disk lost, somewhere or at the end."""
    name = patient.pick(lambda name: patient.needed(name) and (patient.folder / name).stat().st_size > PAGE + 512)
    path = patient.folder / name
    data = bytearray(path.read_bytes())
    pages = -(-len(data) // PAGE)
    page = patient.choices.choice([pages - 1, patient.choices.randrange(pages)])
    part = data[page * PAGE : (page + 1) * PAGE]
    if not part.strip(b"\0"):
        return Done("nothing: these were zeros", set())
    data[page * PAGE : (page + 1) * PAGE] = bytes(len(part))
    path.write_bytes(data)
    reason = ""
    if name.endswith((".pt", ".pth", ".bin", ".metadata")) and data[:4] != b"PK\x03\x04" and page:
        reason = "tensor data of a format without checksums"
    return Done(f"zero page {page} of {pages} in {name}", {Kind.ZERO_FILLED, Kind.TORN}, reason)


def put_pointer(patient: Patient) -> Done:
    name = patient.pick(patient.needed)
    path = patient.folder / name
    path.write_text(LFS.format("0" * 64, path.stat().st_size))
    return Done(f"LFS pointer {name}", {Kind.LFS_POINTER, Kind.STALE_POINTER})


def put_page(patient: Patient) -> Done:
    name = patient.pick(patient.needed)
    (patient.folder / name).write_text("<!DOCTYPE html><html><body>404 Not Found</body></html>")
    return Done(f"web page {name}", {Kind.HTML_PAGE, Kind.STALE_POINTER})


def half_write(patient: Patient) -> Done:
    """A kill during the save: one file is half there, and those that come after it are not."""
    order = sorted((name for name in patient.files if is_weights(name)), key=lambda name: name.startswith("optim"))
    index = patient.choices.randrange(len(order))
    path = patient.folder / order[index]
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    for name in order[index + 1 :]:
        (patient.folder / name).unlink()
    return Done(f"half-written {order[index]}", {Kind.TORN})


def make_stale(patient: Patient) -> Done:
    """A pointer to what is not there: `latest`, an index, .metadata."""
    folder = patient.folder
    if (folder / "latest").exists():
        (folder / "latest").write_text(
            patient.choices.choice(["global_step999", "\n", patient.other.name.replace("checkpoint-", "global_step")])
        )
        return Done("stale latest", {Kind.STALE_POINTER, Kind.TORN})
    index = folder / "model.safetensors.index.json"
    if index.exists():
        value = json.loads(index.read_text())
        key = patient.choices.choice(list(value["weight_map"]))
        value["weight_map"][key] = patient.choices.choice(["model-00001-of-00099.safetensors", "gone.safetensors"])
        index.write_text(json.dumps(value))
        return Done("stale index", {Kind.MISSING, Kind.STALE_POINTER})
    if name := next((name for name in patient.files if name.endswith(".distcp")), None):
        (folder / name).rename((folder / name).with_name("__9_9.distcp"))
        return Done("stale .metadata", {Kind.MISSING, Kind.STALE_POINTER})
    (folder / "checkpoint-is-incomplete.txt").write_text("saving")
    return Done("marked as incomplete", {Kind.MARKED_INCOMPLETE})


def change_world(patient: Patient) -> Done:
    """Files of another number of ranks."""
    ranks = [name for name in patient.files if name.startswith("rng_state_")]
    kinds = {Kind.WRONG_WORLD_SIZE, Kind.MISSING}
    if not ranks:
        source = next((name for name in patient.files if name == "rng_state.pth"), None)
        if source is None:
            return lose(patient)
        shutil.copyfile(patient.folder / source, patient.folder / "rng_state_0.pth")
        shutil.copyfile(patient.folder / source, patient.folder / "rng_state_1.pth")
        return Done("random states of one process and of two", kinds)
    shards = [name for name in patient.files if name.endswith("optim_states.pt")]
    if shards and patient.choices.random() < 0.5:
        shard = patient.choices.choice(shards)
        shutil.copyfile(
            patient.folder / shard,
            patient.folder / shard.replace("pp_rank_0", "pp_rank_7").replace("pp_rank_1", "pp_rank_7"),
        )
        return Done(f"another rank's {shard}", kinds)
    (patient.folder / patient.choices.choice(ranks)).unlink()
    return Done("one random state less", kinds)


def make_nan(patient: Patient) -> Done:
    """The weights that a diverged run saves: whole, and worth nothing."""
    names = [name for name in patient.files if name.endswith((".safetensors", ".bin")) and "training" not in name]
    names += [name for name in patient.files if name.endswith((".pt", ".distcp")) and not names and is_weights(name)]
    name = patient.choices.choice([name for name in names if "scheduler" not in name])
    path = patient.folder / name
    if name.endswith(".safetensors"):
        put_nan_in_safetensors(path, patient.choices)
    elif not put_nan_in_archive(path, patient.choices):
        return Done("nothing: there is no tensor in it", set())
    return Done(f"NaN in {name}", {Kind.NOT_FINITE}, is_deep=True)


def put_nan_in_safetensors(path, choices):
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack_from("<Q", data)
    entries = json.loads(data[8 : 8 + length])
    entries.pop("__metadata__", None)
    entry = entries[choices.choice(sorted(entries))]
    width = {"F32": 4, "BF16": 2}[entry["dtype"]]
    nan = b"\x00\x00\xc0\x7f" if width == 4 else b"\xc0\x7f"
    begin, end = entry["data_offsets"]
    at = 8 + length + begin + width * choices.randrange((end - begin) // width)
    data[at : at + width] = nan
    path.write_bytes(data)


def put_nan_in_archive(path, choices):
    """Change the largest storage, with the checksums that torch would have written."""
    data = bytearray(path.read_bytes())
    if data[:4] != b"PK\x03\x04":  # before torch 1.6: the last storage ends the file
        at = len(data) - 4 * choices.randrange(1, 16)
        data[at : at + 4] = b"\x00\x00\xc0\x7f"
        path.write_bytes(data)
        return True
    with zipfile.ZipFile(path) as archive:
        entry = max((info for info in archive.infolist() if "/data/" in info.filename), key=lambda info: info.file_size)
        old = archive.read(entry)
    if len(old) < 4:
        return False
    begin = data.index(old)
    at = begin + 4 * choices.randrange(len(old) // 4)
    data[at : at + 4] = b"\x00\x00\xc0\x7f"
    was, now = (struct.pack("<I", zlib.crc32(part)) for part in (old, bytes(data[begin : begin + len(old)])))
    path.write_bytes(bytes(data).replace(was, now))
    return True


DAMAGES: dict[Callable[[Patient], Done], int] = {
    flip: 60, truncate: 40, lose: 40, swap: 30, zero_page: 30, put_pointer: 20, put_page: 10, half_write: 20,
    make_stale: 15, change_world: 15, make_nan: 20,
}  # fmt: skip

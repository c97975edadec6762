"""Is a file of torch.save or of pickle whole, and harmless?"""

from laststep.checkpoints.contents import Reading
from laststep.checkpoints.formats import pickle_file, torch_archive
from laststep.checkpoints.formats.look import Look

_ENDINGS = (".pt", ".pth", ".bin", ".pkl", ".pickle", ".ckpt", ".metadata", ".tar", ".th", ".mdl")


def recognises(name: str) -> bool:
    return name.endswith(_ENDINGS)


def read(look: Look) -> Reading:
    """Tell the formats apart as torch.load does, by the first four bytes."""
    with look.path.open("rb") as file:
        is_archive = file.read(4) == torch_archive.ZIP_START
    return torch_archive.read(look) if is_archive else pickle_file.read(look)

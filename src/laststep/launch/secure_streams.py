"""Are our standard streams open? Runs on every machine, before all else."""

import os


def secure_standard_streams() -> None:
    """Open what was closed (`<&-`), so that no file of ours gets the number of a standard stream."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
            os.set_inheritable(fd, True)

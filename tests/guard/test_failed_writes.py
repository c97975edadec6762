"""Which errors are about the place a file is written to?"""

import errno
import os

import pytest

from laststep_guard.guards.failed_writes import read_free_bytes, tell_failed_write


class SafetensorError(Exception):
    """As safetensors' own, which keeps the number of the error in its text alone."""


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        OSError(errno.EIO, "Input/output error"),
        SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)"),
        # As torch 2.14 says it, zip and legacy.
        RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 576 vs 534"),
        RuntimeError("basic_ios::clear: iostream error"),
        RuntimeError("write(): fd 3 failed with No space left on device"),
    ],
    ids=lambda error: str(error)[:30],
)
def test_a_place_that_cannot_be_written_to_is_told(error):
    assert tell_failed_write(error)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no space left"),
        RuntimeError("CUDA out of memory"),
        PermissionError(errno.EACCES, "Permission denied"),
        FileNotFoundError(errno.ENOENT, "No such file"),
        SafetensorError("Error while deserializing header: HeaderTooLarge"),
        SafetensorError("I/O error: Permission denied (os error 13)"),
    ],
    ids=lambda error: str(error)[:30],
)
def test_any_other_error_is_left_alone(error):
    assert tell_failed_write(error) is None


def chain(error, cause):
    error.__context__ = cause
    return error


def test_the_reason_is_found_behind_a_wrapper():
    error = chain(RuntimeError("could not save"), OSError(errno.ENOSPC, "No space left on device"))

    assert tell_failed_write(error) == os.strerror(errno.ENOSPC)


def test_who_wants_to_leave_is_let_go():
    """Ctrl-C while a full disk is being dealt with is no failed write."""
    error = chain(KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device"))

    assert tell_failed_write(error) is None


def test_room_is_told_of_a_folder_that_is_not_there_yet(tmp_path):
    assert read_free_bytes(str(tmp_path / "not" / "yet")) > 0

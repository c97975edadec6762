"""The guard runs in whatever Python the training has: the oldest and the newest at hand stand for all."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
OLDEST, NEWEST = 9, 14
# Framework-free parts; the files that do not exist yet on a branch are left out.
PARTS = ("wire", "settings", "emit", "patches", "shield", "watch_imports", "guardian")

EXERCISE = """
import os, sys, tempfile
assert "site" not in sys.modules
sys.path.insert(0, sys.argv[1])
from laststep_guard import emit, patches, settings, shield, watch_imports, wire

beat = bytearray(wire.BEAT_BYTES)
wire.pack_head(beat, rank=1, local_rank=1, world_size=2, pid=7, started_at=1.5)
wire.pack_body(beat, 3, wire.Phase.SAVE, wire.Flag.TRAINER_SEEN, 2, 5, 14, 2.5, 2.25)
seen = wire.read_beat(bytes(beat))
assert (seen.rank, seen.phase, seen.step, seen.target_step) == (1, wire.Phase.SAVE, 5, 14)
beat[-1] ^= 1
assert wire.read_beat(bytes(beat)) is None and wire.read_beat(b"") is None

orders = settings.Settings(run_id="a", guards_off=("loss",), allow="altering")
text = settings.write_settings(orders)
assert settings.read_settings({wire.ENVIRONMENT: text}) == orders
assert settings.read_settings({}) is None

with tempfile.TemporaryDirectory() as folder:
    emitter = emit.Emitter(folder, 0)
    emitter.emit(wire.EventKind.ATTACHED, text="x" * 5000, odd=object())
    (name,) = os.listdir(folder)
    assert name == wire.events_name(os.getpid())
    reported = []
    guarded = shield.Shield(lambda kind, **fields: reported.append(kind))
    with guarded.over("here"):
        raise RuntimeError("ours")
    assert reported == [wire.EventKind.GUARD_ERROR]

class Owner:
    def method(self): return 1
changes = patches.Patches()
changes.wrap(Owner, "method", lambda original: lambda self: original(self) + 1)
assert Owner().method() == 2
changes.undo()
assert Owner().method() == 1

watch = watch_imports.ImportWatch()
seen = []
watch.after("colorsys", seen.append)
import colorsys
assert seen == [colorsys] and watch.find_spec("nothing", None) is None
watch.stop()
print("ok", sys.version_info[1])
"""


def pythons():
    """Find the oldest and the newest interpreter among those the guard is meant for."""
    found = {}
    named = [shutil.which(f"python3.{minor}") for minor in range(OLDEST, NEWEST + 1)]
    for path in [*Path.home().glob(".pyenv/versions/3.*/bin/python3"), *filter(None, named)]:
        version = subprocess.run(
            [path, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=False
        )
        if version.returncode == 0 and OLDEST <= int(version.stdout.split()[1]) <= NEWEST:
            found.setdefault(int(version.stdout.split()[1]), str(path))
    return [found[minor] for minor in sorted({min(found), max(found)})]


@pytest.mark.parametrize("python", pythons(), ids=lambda path: re.sub(r".*versions/", "", path))
class TestTheGuard:
    def test_works_isolated_and_without_site(self, python):
        ran = subprocess.run(
            [python, "-I", "-S", "-c", EXERCISE, PROJECT / "src"], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.startswith("ok")

    def test_compiles(self, python, tmp_path):
        """Every file, also those that only frameworks reach."""
        files = [str(path) for path in (PROJECT / "src" / "laststep_guard").rglob("*.py")]
        program = (
            "import ast, sys\nfor path in sys.argv[1:]: compile(open(path, encoding='utf-8').read(), path, 'exec')"
        )
        ran = subprocess.run(
            [python, "-I", "-S", "-c", program, *files], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert ran.returncode == 0, ran.stderr

"""Are the tiny model and its data there?

Both are built by scripts that run under the training environment's Python, once, into a folder that is kept.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from laststep.records.errors import LaststepError
from laststep.records.text import Text

_FAILED = Text(en="{script} failed under {python}:\n{said}", zh="{script} 在 {python} 下运行失败：\n{said}")
_SCRIPTS = Path(__file__).resolve().parent


def prepare_model(python: Path, folder: Path) -> Path:
    """Give the tiny reranker; build it if it is not there."""
    model = folder / "model"
    if not model.exists():
        _run(python, "build_model.py", [str(model)])
    return model


def prepare_data(python: Path, folder: Path, flags: Sequence[str]) -> Path:
    """Give a data set; every set of flags has a folder of its own."""
    name = "-".join(flag.removeprefix("--") for flag in flags) or "plain"
    rows = folder / "data" / name / "rows.json"
    if not rows.exists():
        rows.parent.mkdir(parents=True, exist_ok=True)
        _run(python, "build_data.py", [str(rows), *flags])
    return rows


def _run(python: Path, script: str, arguments: Sequence[str]) -> None:
    # From another folder: the script's own would come first on its path, and hide modules behind ours.
    built = subprocess.run([python, _SCRIPTS / script, *arguments], capture_output=True, text=True, check=False)
    if built.returncode != 0:
        said = (built.stderr or built.stdout).strip()[-1500:]
        raise LaststepError(_FAILED.fill(script=script, python=python, said=said))

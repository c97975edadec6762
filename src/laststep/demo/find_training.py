"""Which Python can train, here?"""

import shutil
import subprocess
from pathlib import Path

from laststep.records.errors import CommandError

NEEDED = ("torch", "torchvision", "transformers", "swift", "qwen_vl_utils", "dashscope", "PIL", "numpy")
INSTALL = "pip install torch torchvision ms-swift qwen-vl-utils dashscope"
_PROBE = f"""
import importlib.util
print(*[name for name in {NEEDED!r} if importlib.util.find_spec(name) is None])
"""


def find_training_python(asked: Path | None, *, search_path: str, cwd: Path) -> Path:
    """Take the Python that was asked for, else that of the `swift` on PATH, else the one `make envs` built."""
    candidates = [asked] if asked is not None else _candidates(search_path, cwd)
    problems = []
    for python in candidates:
        missing = _missing(python)
        if not missing:
            return python
        problems.append(f"{python}: {missing}")
    seen = "\n".join(problems) or "There is no `swift` on PATH, and no .envs/current in this folder."
    raise CommandError(
        f"The demonstration needs an environment with ms-swift to train in.\n{seen}\n"
        f"Make one and name it: python3 -m venv train && train/bin/{INSTALL}\n"
        "laststep demo --python train/bin/python"
    )


def _candidates(search_path: str, cwd: Path) -> list[Path]:
    swift = shutil.which("swift", path=search_path)
    beside_swift = [Path(swift).with_name("python")] if swift else []
    return [path for path in (*beside_swift, cwd / ".envs" / "current" / "bin" / "python") if path.exists()]


def _missing(python: Path) -> str:
    if not python.exists():
        return "does not exist"
    probe = subprocess.run([python, "-c", _PROBE], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        return f"does not run: {probe.stderr.strip()[-200:]}"
    return f"without {', '.join(probe.stdout.split())}" if probe.stdout.strip() else ""

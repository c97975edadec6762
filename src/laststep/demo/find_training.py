"""Which Python can train, here?"""

import shutil
import subprocess
from pathlib import Path

from laststep.records.errors import CommandError
from laststep.records.text import Text, join_texts

NEEDED = ("torch", "torchvision", "transformers", "swift", "qwen_vl_utils", "dashscope", "PIL", "numpy")
INSTALL = "pip install torch torchvision ms-swift qwen-vl-utils dashscope"
_PROBE = f"""
import importlib.util
print(*[name for name in {NEEDED!r} if importlib.util.find_spec(name) is None])
"""
_NEEDS_TRAINING = Text(
    en="The demonstration needs an environment with ms-swift to train in.\n{seen}\n"
    "Make one and name it: python3 -m venv train && train/bin/{install}\n"
    "laststep demo --python train/bin/python",
    zh="演示需要一个装有 ms-swift 的训练环境。\n{seen}\n"
    "创建并指定它：python3 -m venv train && train/bin/{install}\n"
    "laststep demo --python train/bin/python",
)
_NOTHING_SEEN = Text(
    en="There is no `swift` on PATH, and no .envs/current in this folder.",
    zh="PATH 中没有 `swift`，当前目录下也没有 .envs/current。",
)
_UNFIT = Text(en="{python}: {problem}", zh="{python}：{problem}")
_ABSENT = Text(en="does not exist", zh="不存在")
_DOES_NOT_RUN = Text(en="does not run: {said}", zh="无法运行：{said}")
_WITHOUT = Text(en="without {packages}", zh="缺少 {packages}")


def find_training_python(asked: Path | None, *, search_path: str, cwd: Path) -> Path:
    """Take the Python that was asked for, else that of the `swift` on PATH, else the one `make envs` built."""
    candidates = [asked] if asked is not None else _candidates(search_path, cwd)
    problems = []
    for python in candidates:
        problem = _find_problem(python)
        if problem is None:
            return python
        problems.append(_UNFIT.fill(python=python, problem=problem))
    seen = join_texts(problems) if problems else _NOTHING_SEEN
    raise CommandError(_NEEDS_TRAINING.fill(seen=seen, install=INSTALL))


def _candidates(search_path: str, cwd: Path) -> list[Path]:
    swift = shutil.which("swift", path=search_path)
    beside_swift = [Path(swift).with_name("python")] if swift else []
    return [path for path in (*beside_swift, cwd / ".envs" / "current" / "bin" / "python") if path.exists()]


def _find_problem(python: Path) -> Text | None:
    if not python.exists():
        return _ABSENT
    probe = subprocess.run([python, "-c", _PROBE], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        return _DOES_NOT_RUN.fill(said=probe.stderr.strip()[-200:])
    missing = probe.stdout.split()
    return _WITHOUT.fill(packages=", ".join(missing)) if missing else None

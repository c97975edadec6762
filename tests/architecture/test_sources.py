"""What holds for every source file, checked without running any."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SOURCE = PROJECT / "src"
GUARD = SOURCE / "laststep_guard"
FILES = sorted([*SOURCE.rglob("*.py"), *PROJECT.glob("bench/*.py")])
LONGEST_FILE = 300  # lines, see the style guide
LONGEST_FUNCTION = 60
# The entry is there before the shield can be.
SHIELDS = {
    "laststep/cli/main.py",
    "laststep/preflight/run_checks.py",
    "laststep_guard/shield.py",
    "laststep_guard/inject/sitecustomize.py",
}
# Here exceptions of the training's own code pass through us, and come out where torch would let them out.
# Or end with the file that they are about, which could not be written.
HANDING_ON = {
    "laststep_guard/frameworks/torch_processes.py",
    "laststep_guard/frameworks/torch_worker.py",
    "laststep_guard/frameworks/file_writes.py",
}
STARTING = {
    "os.system",
    "os.popen",
    "os.fork",
    "os.forkpty",
    "os.kill",
    "os.killpg",
    "os.posix_spawn",
    "pty.fork",
    "pty.spawn",
}
PROCESS_MODULES = {"subprocess", "multiprocessing", "pexpect"}
CLOCKS = {"time.time", "time.monotonic", "time.sleep", "time.perf_counter", "time.time_ns", "time.monotonic_ns"}


def shown(path):
    return path.relative_to(PROJECT).as_posix().removeprefix("src/")


def parse(path):
    return ast.parse(path.read_text(), str(path))


def imports(nodes):
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or ""


def calls(tree):
    """Names of what is called, as far as they are written out: `os.kill`, `print`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node.lineno


def within(path, *places):
    return shown(path).startswith(places)


def offences(allowed, is_offence):
    """Places that call what they should not, in files of laststep outside the allowed ones."""
    return [
        f"{shown(path)}:{line} {name}"
        for path in FILES
        if within(path, "laststep/") and not within(path, *allowed)
        for name, line in calls(parse(path))
        if is_offence(name)
    ]


def test_the_layers_hold():
    """A broken contract is a design question; lint-imports names the chain."""
    checked = subprocess.run(
        [Path(sys.executable).parent / "lint-imports"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("path", [path for path in FILES if GUARD in path.parents], ids=shown)
def test_the_guard_imports_only_the_standard_library(path):
    """It is loaded into somebody else's Python, where nothing of ours is installed.

    What translates a framework's hooks may import that framework, inside the functions that run once it is there.
    """
    tree = parse(path)
    is_translator = {"frameworks", "fixes"} & set(path.parts)
    names = imports(tree.body if is_translator else ast.walk(tree))
    assert not {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"laststep_guard"}


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_a_file_can_be_read_in_one_sitting(path):
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_a_function_fits_on_a_screen(path):
    functions = [node for node in ast.walk(parse(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    too_long = {node.name: node.end_lineno - node.lineno + 1 for node in functions}
    assert not {name: lines for name, lines in too_long.items() if lines > LONGEST_FUNCTION}


@pytest.mark.parametrize("path", [path for path in FILES if path.name != "__init__.py"], ids=shown)
def test_a_module_opens_with_its_docstring(path):
    assert ast.get_docstring(parse(path))


def test_only_render_prints():
    """Scripts that run under the training's Python are programs of their own; the guard's entry may warn."""
    allowed = ("laststep/cli/render.py", "laststep/demo/build_")
    assert not offences(allowed, lambda name: name in ("print", "sys.stdout.write", "sys.stderr.write"))


def test_processes_are_touched_in_host_and_launch_only():
    """The demonstration kills workers and starts `laststep run`, as its spectator would."""
    allowed = ("laststep/host/", "laststep/launch/", "laststep/demo/")
    assert not offences(allowed, lambda name: name in STARTING or name.split(".")[0] in PROCESS_MODULES)


def test_time_comes_from_the_clock():
    allowed = ("laststep/host/clock.py", "laststep/demo/")
    assert not offences(allowed, lambda name: name in CLOCKS or name.endswith(("datetime.now", "datetime.utcnow")))


def test_everything_is_caught_in_the_shield_and_in_main_only():
    broad = [
        f"{shown(path)}:{node.lineno}"
        for path in FILES
        if within(path, "laststep")
        for node in ast.walk(parse(path))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
        and shown(path) not in SHIELDS | HANDING_ON
        and not isinstance(node.body[-1], ast.Raise)  # it cleans up or takes note, and lets the exception go on
    ]
    assert not broad


def test_every_exception_to_a_rule_has_its_reason():
    """`# noqa: X  # why` and `# type: ignore[x]  # why`."""
    files = [*FILES, *PROJECT.glob("tests/**/*.py"), PROJECT / "scripts" / "make_environments"]
    bare = [
        f"{shown(path)}:{number}"
        for path in files
        if path != Path(__file__)  # which has to name the signs
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for sign in ("# noqa", "# type: ignore")
        if sign in line and "#" not in line.split(sign, 1)[1]
    ]
    assert not bare

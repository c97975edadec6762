"""How is a run taken up again by its name, without its command at hand?"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from laststep.checkpoints.find import find_checkpoints
from laststep.checkpoints.sealed_files import find_manifest
from laststep.host.processes import read_environment, read_words
from laststep.journal.layout import RunFolder
from laststep.journal.reader import read_object
from laststep.journal.redact import REDACTED
from laststep.launch.inject import take_out_guard
from laststep.records.command import Command
from laststep.records.errors import LaststepError, RunNotFoundError
from laststep.records.outcome import Outcome
from laststep.records.request import RunRequest
from laststep.records.text import Text
from laststep.supervisor.list_runs import RunState, find_run, list_runs, look_at_run

_RUNNING = Text(
    en="Run {run_id} is running. To see it: laststep attach {run_id}",
    zh="运行 {run_id} 正在进行。查看：laststep attach {run_id}",
)
_FINISHED = Text(
    en="Run {run_id} is finished: there is nothing to resume. To train on, give its command more steps or epochs.",
    zh="运行 {run_id} 已完成，无需续训。如要继续训练，请在命令中增加步数或轮数。",
)
_SECRET = Text(
    en="The command of run {run_id} holds a secret, which was not written down. Type the command again, in the same"
    " folder: laststep run -- …",
    zh="运行 {run_id} 的命令含有密钥，未被记录。请在同一目录重新输入命令：laststep run -- …",
)
_UNKNOWN_FOLDER = Text(
    en="No run that laststep knows of wrote to {folder}. Put laststep in front of the command that did, with its own"
    " resume flag: laststep run -- … --resume_from_checkpoint {newest}",
    zh="laststep 不知道写入 {folder} 的运行。请在原命令前加 laststep，并使用其续训参数："
    "laststep run -- … --resume_from_checkpoint {newest}",
)
_DONE = (Outcome.FINISHED.value, Outcome.STOPPED_EARLY.value)


def read_resume_request(name: str, home: Path, environment: Mapping[str, str]) -> RunRequest:
    """Make the request that goes on with a run. Raises LaststepError when there is nothing to go on with.

    `name` is that of a run, or a folder that a run wrote checkpoints to. What the command assigned to variables is
    taken from the record of the run, everything else from the environment of now.
    """
    folder = _find_by_output(Path(name), home) or find_run(name, home)
    _refuse_over(look_at_run(folder))
    described = read_object(folder.run)
    argv = tuple(str(word) for word in described.get("command", ()))
    assignments = {str(key): str(value) for key, value in (described.get("assignments") or {}).items()}
    if any(REDACTED in word for word in (*argv, *assignments.values())):
        raise LaststepError(_SECRET.fill(run_id=folder.run_id))
    return _make_request(folder, Command(argv, environment=assignments), {**environment, **assignments})


def read_living_request(folder: RunFolder, command_pid: int) -> RunRequest | None:
    """Make the request that would go on with a run while its command lives, whose words and variables show it whole."""
    argv, environment = read_words(command_pid), read_environment(command_pid)
    if not argv or not environment:
        return None
    return _make_request(folder, Command(argv), take_out_guard(environment))


def _make_request(folder: RunFolder, command: Command, environment: Mapping[str, str]) -> RunRequest:
    described = read_object(folder.run)
    return RunRequest(
        command=command,
        cwd=Path(described.get("start_folder") or described.get("cwd") or "."),
        home=folder.path.parent.parent,
        environment=environment,
        guards_off=_list_names(described, "guards_off"),
        fixes_off=_list_names(described, "fixes_off"),
        allow=str(described.get("allow") or "equivalent"),
        grace_seconds=float(described.get("grace_seconds") or 30.0),
        takes_up=folder.path,
    )


def _refuse_over(run: RunState) -> None:
    if run.state == "running":
        raise LaststepError(_RUNNING.fill(run_id=run.folder.run_id))
    if run.state in _DONE:
        raise LaststepError(_FINISHED.fill(run_id=run.folder.run_id))


def _find_by_output(path: Path, home: Path) -> RunFolder | None:
    """Find the run that wrote to a folder; None when it is no folder with checkpoints."""
    if not path.is_dir() or RunFolder(path).run.exists():
        return None
    try:
        found = find_checkpoints(path)
    except LaststepError:
        found = ()
    runs = list(list_runs(home))
    by_folder = [run.folder for run in runs if run.output_dir == str(path.resolve())]
    by_manifest = [run.folder for run in runs if run.folder.run_id in _list_run_ids(found)]
    if by_folder or by_manifest:
        return (by_folder or by_manifest)[0]
    if found:
        raise RunNotFoundError(_UNKNOWN_FOLDER.fill(folder=path, newest=found[0]))
    return None


def _list_run_ids(checkpoints: Sequence[Path]) -> set[str | None]:
    manifests = [find_manifest(path) for path in checkpoints]
    return {manifest.run_id for manifest in manifests if manifest is not None}


def _list_names(described: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(str(name) for name in described.get(key) or ())

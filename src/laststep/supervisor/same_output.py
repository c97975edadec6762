"""Does another run write to the same output folder at this moment?"""

from laststep.journal.layout import RunFolder
from laststep.records.request import RunRequest
from laststep.records.text import Text
from laststep.supervisor.console import Console
from laststep.supervisor.describe_run import adds_version, find_output_dir
from laststep.supervisor.list_runs import list_runs

_SHARED = Text(
    en="run {other} is writing to {folder} right now: the two will overwrite each other's checkpoints. Stop one of them"
    " (laststep stop {other}), or choose another output folder",
    zh="运行 {other} 正在写入 {folder}：两者会互相覆盖检查点。请停止其一（laststep stop {other}）或更换输出目录",
)
_BESIDE = Text(
    en="run {other} is writing to {folder} right now; ms-swift gives each launch a folder of its own in there",
    zh="运行 {other} 正在写入 {folder}；ms-swift 会为每次启动建立单独的子目录",
)


def warn_of_same_output(request: RunRequest, ours: RunFolder | None, console: Console) -> None:
    """Name the living run that uses the same output folder."""
    output_dir = find_output_dir(request)
    if output_dir is None:
        return
    for run in list_runs(request.home):
        is_other = ours is None or run.folder.path != ours.path
        if is_other and run.output_dir == str(output_dir) and run.state == "running":
            words = _BESIDE if adds_version(request.command.argv) else _SHARED
            console.say(words.fill(other=run.folder.run_id, folder=output_dir))
            return

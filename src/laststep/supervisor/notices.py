"""What does the holder want the user to know?"""

from collections.abc import Mapping
from typing import Any

from laststep.records.text import Text

_STOPPING = Text(
    en="stopping: waiting up to {grace_seconds:g} s for {processes} process(es); press Ctrl-C again to end at once",
    zh="正在停止：最多等待 {grace_seconds:g} 秒，共 {processes} 个进程；再按一次 Ctrl-C 立即结束",
)
_AT_ONCE = Text(en="ending at once", zh="立即结束")
_LOG_DROPPED = Text(
    en="the copy of the output is not complete: {path}: {problem}. The run goes on; it is tried again",
    zh="输出副本不完整：{path}：{problem}。运行继续，稍后重试",
)
_LEFT_OUT = Text(
    en="{left_out_bytes:,} bytes of output are left out here: they came too fast for this screen, and there is no copy",
    zh="此处略去 {left_out_bytes:,} 字节输出：输出过快且没有副本",
)
_STUCK = Text(
    en="waiting for {processes} process(es) that were killed and that the kernel has not let go of yet",
    zh="等待 {processes} 个已被杀死但内核尚未释放的进程",
)
_SAVING = Text(en="all ranks save at the end of step {step}", zh="所有 rank 将在第 {step} 步结束时保存")
_SAVED = Text(en="saved at step {step}", zh="已在第 {step} 步保存")
_SAVE_FAILED = Text(
    en="the save of step {step} failed on a rank; the checkpoint is not whole",
    zh="第 {step} 步的保存在某个 rank 上失败；检查点不完整",
)
_SAVE_GIVEN_UP = Text(
    en="no save at step {step}: a rank is gone, or the training is at its end",
    zh="第 {step} 步未保存：有 rank 已退出，或训练已到结尾",
)
_CANNOT_SAVE = Text(
    en="no save can be asked for now: no step is being trained yet, or the ranks do not listen",
    zh="目前无法请求保存：训练步骤尚未开始，或各 rank 不接受请求",
)
_NO_STEP_ENDED = Text(
    en="no step ended within {grace_seconds:g} s, so nothing was saved on the way out; --grace gives more time",
    zh="{grace_seconds:g} 秒内没有步骤结束，退出前未能保存；可用 --grace 延长",
)
_SAVE_CUT_OFF = Text(
    en="the save was not over within {grace_seconds:g} s and is cut off; --grace gives more time",
    zh="保存未能在 {grace_seconds:g} 秒内完成，已被中断；可用 --grace 延长",
)
_UNKNOWN = Text(en="the holder says: {about}", zh="holder 通知：{about}")

_BY_SUBJECT = {
    "stopping": _STOPPING,
    "ending_at_once": _AT_ONCE,
    "saving": _SAVING,
    "saved": _SAVED,
    "save_failed": _SAVE_FAILED,
    "save_given_up": _SAVE_GIVEN_UP,
    "cannot_save": _CANNOT_SAVE,
    "no_step_ended": _NO_STEP_ENDED,
    "save_cut_off": _SAVE_CUT_OFF,
    "log_dropped": _LOG_DROPPED,
    "left_out": _LEFT_OUT,
    "stuck": _STUCK,
}


def word_notice(values: Mapping[str, Any]) -> Text:
    """Put a notice of the holder into words."""
    return _BY_SUBJECT.get(str(values.get("about")), _UNKNOWN).fill(**values)

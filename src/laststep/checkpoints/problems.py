"""How is a problem of a checkpoint put into words?"""

from laststep.records.checkpoint import Problem, ProblemKind
from laststep.records.text import Text

MISSING = Text(en="is missing: {why}", zh="缺失：{why}")
TORN = Text(en="is torn: {how}", zh="文件残缺：{how}")
EMPTY = Text(en="is torn: it is empty", zh="文件残缺：内容为空")
ZERO_FILLED = Text(
    en="{count:,} zero bytes stand at byte {at:,} where data should be; the disk or the copy lost them",
    zh="第 {at:,} 字节处本应是数据，却有 {count:,} 个零字节；数据在磁盘上或拷贝时丢失",
)
LFS_POINTER = Text(
    en="is the pointer of Git LFS ({size:,} bytes of text) and not the file; fetch it with `git lfs pull`",
    zh="是 Git LFS 指针（{size:,} 字节文本）而不是文件本身；请用 `git lfs pull` 获取",
)
HTML_PAGE = Text(
    en="is a web page, as a failed download leaves one; download it again",
    zh="是一个网页，通常由下载失败造成；请重新下载",
)
MARKED_INCOMPLETE = Text(
    en="says that whoever wrote this checkpoint did not finish", zh="表明写入该检查点的程序没有写完"
)
HALF_WRITTEN = Text(
    en="is a temporary file: a save ended before it was renamed", zh="是临时文件：保存在重命名之前就中断了"
)
BEING_WRITTEN = Text(
    en="was changed {seconds:.0f} s ago and is not whole: it may be being written; look again in a minute",
    zh="{seconds:.0f} 秒前有改动且不完整：可能正在写入；请稍后再看",
)
WRONG_STEP = Text(
    en="belongs to step {found}, and the checkpoint to step {step}", zh="属于第 {found} 步，而检查点是第 {step} 步"
)
WRONG_WORLD_SIZE = Text(
    en="speaks of {found} ranks where {expected} are expected", zh="涉及 {found} 个 rank，而应为 {expected} 个"
)
STALE_POINTER = Text(en="names {target}, which {what}", zh="指向 {target}，而它{what}")
NOT_THERE = Text(en="is not there", zh="不存在")
MALICIOUS = Text(
    en="would run {name} when loaded, which no checkpoint needs; it was not loaded. Keep it away from torch.load",
    zh="加载时会执行 {name}，任何检查点都不需要它；本程序没有加载。切勿用 torch.load 打开",
)
UNREADABLE = Text(en="cannot be read: {reason}", zh="无法读取：{reason}")
NOT_FINITE = Text(en="{tensor} holds {what}", zh="{tensor} 含有 {what}")
WRONG_SHAPE = Text(en="{tensor} is {found} and should be {expected}", zh="{tensor} 为 {found}，应为 {expected}")
CHANGED_SIZE = Text(
    en="has {found:,} bytes, and had {expected:,} when it was sealed",
    zh="现有 {found:,} 字节，封存时为 {expected:,} 字节",
)
CHANGED_HASH = Text(en="is not what it was when it was sealed", zh="内容与封存时不同")


def report(kind: ProblemKind, file: str | None, words: Text, **values: object) -> Problem:
    """Make a problem, with the values put into its words."""
    return Problem(kind=kind, file=file, words=words.fill(**values) if values else words)


def torn(file: str, how: Text, **values: object) -> Problem:
    return report(ProblemKind.TORN, file, TORN, how=how.fill(**values) if values else how)


def missing(file: str | None, why: Text, **values: object) -> Problem:
    return report(ProblemKind.MISSING, file, MISSING, why=why.fill(**values) if values else why)


def malicious(file: str, name: str) -> Problem:
    return report(ProblemKind.MALICIOUS, file, MALICIOUS, name=name)

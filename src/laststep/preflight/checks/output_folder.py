"""Can the training write where it means to?"""

from collections.abc import Iterator

from laststep.host.machine import Machine, Place
from laststep.preflight.checks.check import Check
from laststep.records.finding import Finding, Severity
from laststep.records.plan import Plan
from laststep.records.text import Text

NAME = "output-folder"
_LEAST_BYTES = 1 << 30
_LEAST_INODES = 1000
_PASSED = Text(en="the output folder can be written to", zh="输出目录可写")
_UNKNOWN = Text(en="Where the training writes to is not known", zh="不清楚训练写入何处")
_NAME_IT = Text(
    en="Give --output_dir, so that room and rights can be checked", zh="请给出 --output_dir，以便检查空间与权限"
)
_NOT_LOOKED_AT = Text(en="{path} could not be looked at", zh="无法查看 {path}")
_NO_FOLDER = Text(en="{path} is a file, where the output folder should be", zh="输出目录的位置 {path} 是一个文件")
_NOT_WRITABLE = Text(en="{path} cannot be written to", zh="{path} 不可写")
_ELSEWHERE = Text(
    en="Choose another --output_dir, or mend the rights of this one", zh="请更换 --output_dir，或修正其权限"
)
_FULL = Text(en="The disk of the output folder is nearly full", zh="输出目录所在磁盘几乎已满")
_ROOM = Text(
    en="{path} has {free:.2f} GiB and {inodes} entries left", zh="{path} 剩余 {free:.2f} GiB、{inodes} 个 inode"
)
_MAKE_ROOM = Text(
    en="Make room, keep fewer checkpoints (save_total_limit), or write to another disk",
    zh="请清理空间、少保留检查点（save_total_limit），或写入其他磁盘",
)


def look(plan: Plan, machine: Machine) -> Iterator[Finding]:
    """Report an output folder that cannot be made or written, or has no room for anything."""
    place = machine.look_at(plan.output_dir) if plan.output_dir is not None else None
    if plan.output_dir is None:
        yield Finding(check=NAME, severity=Severity.UNKNOWN, summary=_UNKNOWN, fix=_NAME_IT)
    elif place is None:
        summary = _NOT_LOOKED_AT.fill(path=plan.output_dir)
        yield Finding(check=NAME, severity=Severity.UNKNOWN, summary=summary, fix=_ELSEWHERE)
    elif not place.is_folder:
        yield _block(_NO_FOLDER.fill(path=place.path), _ELSEWHERE)
    elif not place.is_writable:
        yield _block(_NOT_WRITABLE.fill(path=place.path), _ELSEWHERE)
    else:
        yield from _look_at_room(place)


def _look_at_room(place: Place) -> Iterator[Finding]:
    space = place.space
    if space is None:
        return
    has_inodes = space.free_inodes is None or space.free_inodes >= _LEAST_INODES
    if space.free_bytes >= _LEAST_BYTES and has_inodes:
        return
    inodes = "?" if space.free_inodes is None else space.free_inodes
    yield Finding(
        check=NAME,
        severity=Severity.BLOCKER,
        summary=_FULL,
        detail=_ROOM.fill(path=place.path, free=space.free_bytes / (1 << 30), inodes=inodes),
        fix=_MAKE_ROOM,
    )


def _block(summary: Text, fix: Text) -> Finding:
    return Finding(check=NAME, severity=Severity.BLOCKER, summary=summary, fix=fix)


CHECK = Check(NAME, _PASSED, look)

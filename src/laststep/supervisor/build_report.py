"""What does the last report say about a run?"""

import math
import os
from collections.abc import Sequence
from pathlib import Path

from laststep.journal.layout import RunFolder
from laststep.journal.reader import read_attempt_ending, read_events
from laststep.launch.inject import find_switch_off
from laststep.records.checkpoint import Soundness
from laststep.records.event import Event, OwnEventKind
from laststep.records.facts import AttemptFacts
from laststep.records.outcome import Judgement, Outcome
from laststep.records.report import LastReport, SavedCheckpoint
from laststep.records.text import Text
from laststep.supervisor.faults import list_faults
from laststep.supervisor.judge_resume import judge_resumes
from laststep.telemetry.progress import count_steps
from laststep.telemetry.read_fingerprints import read_fingerprints
from laststep_guard import wire

_SWITCHED_OFF = Text(
    en="python {option} in the command keeps the guard out; leave that option away to have workers and losses guarded",
    zh="命令中的 python {option} 使守护无法加载；去掉该选项即可守护数据加载和损失",
)
_NOWHERE = Text(en="no folder could be written for the guard's signs of life", zh="没有可写的文件夹供守护记录")
_NOT_SEEN = Text(
    en="no process of the command loaded the guard: it trained nothing, or its environment was cleared on the way",
    zh="命令中没有进程加载守护：未进行训练，或环境变量在途中被清除",
)
_SWEPT = Text(
    en="{count} process(es) outlived the command and were ended", zh="{count} 个进程在命令结束后仍存活，已被结束"
)
_SEGMENTS = Text(
    en="{count} segment(s) of shared memory left by killed workers were removed",
    zh="已清理被杀进程遗留的 {count} 段共享内存",
)
_DROPPED = Text(
    en="{count:,} bytes of output are missing in output.log: it could not be written",
    zh="output.log 缺少 {count:,} 字节：当时无法写入",
)

_BROKEN_OFF = (Outcome.STOPPED, Outcome.FAILED, Outcome.UNFINISHED, Outcome.LOST, Outcome.WITHOUT_PROGRESS)
_WAY_ON = Text(
    en="to go on from step {step}: the same command again, or laststep resume {run_id}",
    zh="从第 {step} 步继续：重新输入同一命令，或 laststep resume {run_id}",
)
_NOT_FINITE = Text(
    en="the last logged loss is {loss} (step {step}): what was trained since it went wrong is worth nothing",
    zh="最后记录的损失为 {loss}（第 {step} 步）：自此之后的训练没有意义",
)


def build_report(  # noqa: PLR0913  # what happened, and whose report it is
    judgement: Judgement,
    facts: AttemptFacts,
    *,
    argv: Sequence[str],
    folder: RunFolder | None,
    run_id: str,
    attempts: int,
) -> LastReport:
    """Tell what happened."""
    steps, target = count_attempt_steps(facts)
    events = facts.events if folder is None or attempts == 1 else read_events(folder)
    checkpoints = _list_checkpoints(events)
    return LastReport(
        judgement=judgement,
        steps=steps,
        target_steps=target,
        attempts=attempts,
        seconds=_count_seconds(facts, folder),
        faults=list_faults(events),
        checkpoints=checkpoints,
        resumes=judge_resumes(folder) if folder is not None else (),
        run_id=run_id,
        run_folder=str(folder.path) if folder is not None and not folder.is_temporary else None,
        unwatched_because=_find_why_unwatched(facts, argv, folder),
        notes=(*_list_notes(facts), *_note_loss(folder), *_note_way_on(judgement, checkpoints, run_id)),
    )


def _count_seconds(facts: AttemptFacts, folder: RunFolder | None) -> float:
    """Add up how long the attempts took, without the time that nothing ran between them."""
    endings = [read_attempt_ending(place) for place in folder.attempts()] if folder is not None else []
    known = [ending for ending in endings if ending is not None]
    if not known and facts.ending is not None:
        known = [facts.ending]
    return sum(ending.command.at - ending.started_at for ending in known)


def count_attempt_steps(facts: AttemptFacts) -> tuple[int | None, int | None]:
    """Count the steps that all ranks have made, from beats, or from events where no beat could be written."""
    steps, target = count_steps(facts.beats)
    if steps is not None:
        return steps, target
    told = [event for event in facts.events if event.kind in (wire.EventKind.TRAIN_BEGAN, wire.EventKind.TRAIN_ENDED)]
    if told:
        return told[-1].fields.get("step"), told[-1].fields.get("target_step")
    return None, None


def _list_checkpoints(events: Sequence[Event]) -> tuple[SavedCheckpoint, ...]:
    saved = {
        str(event.fields.get("path")): int(event.fields.get("step") or 0)
        for event in events
        if event.kind == wire.EventKind.CHECKPOINT_SAVED
    }
    sealed = {
        str(event.fields.get("path")): Soundness(event.fields.get("soundness"))
        for event in events
        if event.kind == OwnEventKind.CHECKPOINT_SEALED
    }
    for event in events:
        if event.kind == wire.EventKind.SAVE_FAILED and str(event.fields.get("path")) not in sealed:
            saved.pop(str(event.fields.get("path")), None)  # another rank has said so
    return tuple(
        SavedCheckpoint(path, step, Path(path).is_dir(), sealed.get(path, Soundness.UNKNOWN))
        for path, step in sorted(saved.items(), key=lambda item: item[1])
    )


def _find_why_unwatched(facts: AttemptFacts, argv: Sequence[str], folder: RunFolder | None) -> Text | None:
    if facts.beats or any(event.kind == wire.EventKind.ATTACHED for event in facts.events):
        return None
    option = find_switch_off(argv)
    if option is not None:
        return _SWITCHED_OFF.fill(option=option)
    return _NOWHERE if folder is None else _NOT_SEEN


def _list_notes(facts: AttemptFacts) -> list[Text]:
    ending = facts.ending
    if ending is None:
        return []
    notes = []
    if ending.swept and not ending.stop_requests:
        notes.append(_SWEPT.fill(count=ending.swept))
    if ending.segments_removed:
        notes.append(_SEGMENTS.fill(count=len(ending.segments_removed)))
    if ending.log_bytes_dropped:
        notes.append(_DROPPED.fill(count=ending.log_bytes_dropped))
    return notes


def _note_loss(folder: RunFolder | None) -> list[Text]:
    """Say so when the training got to its end with a loss that is no number: its weights are worth nothing."""
    for place in reversed(folder.attempts() if folder is not None else []):
        steps = read_fingerprints(place.fingerprints / wire.fingerprints_name(0))
        losses = [(step, seen.loss) for step, seen in sorted(steps.items()) if seen.loss is not None]
        if losses:
            step, loss = losses[-1]
            return [] if math.isfinite(loss) else [_NOT_FINITE.fill(loss=loss, step=step)]
    return []


def _note_way_on(judgement: Judgement, checkpoints: Sequence[SavedCheckpoint], run_id: str) -> list[Text]:
    """Say how a run that did not get there can be gone on with."""
    sound = [each.step for each in checkpoints if each.is_there and each.soundness is Soundness.SOUND]
    return [_WAY_ON.fill(step=max(sound), run_id=run_id)] if sound and judgement.outcome in _BROKEN_OFF else []


def shorten_home(path: str) -> str:
    """Write a path with ~ for the home folder."""
    home = str(Path.home())
    return f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path

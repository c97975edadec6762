"""What does a path show, with all that can be looked at: logs, the record of a run, and the checkpoints beside them?"""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from laststep.checkpoints.find import find_checkpoints
from laststep.checkpoints.verify import verify_checkpoint
from laststep.diagnosis.diagnose import diagnose_input
from laststep.diagnosis.read_input import open_input
from laststep.diagnosis.run_facts import LFS_CHECKPOINT, TORN_CHECKPOINT
from laststep.journal.layout import RunFolder
from laststep.records.checkpoint import ProblemKind, Soundness
from laststep.records.errors import LaststepError
from laststep.records.verdict import Diagnosis, Evidence, Phase, Whereabouts
from laststep.supervisor.correct_commands import correct_commands
from laststep.telemetry.read_beats import read_beats
from laststep_guard import wire

_FACTS = {
    ProblemKind.MISSING: TORN_CHECKPOINT,
    ProblemKind.TORN: TORN_CHECKPOINT,
    ProblemKind.ZERO_FILLED: TORN_CHECKPOINT,
    ProblemKind.MARKED_INCOMPLETE: TORN_CHECKPOINT,
    ProblemKind.LFS_POINTER: LFS_CHECKPOINT,
}

_PHASES = {
    wire.Phase.DATA: Phase.TRAINING,  # the next batch
    wire.Phase.STEP: Phase.TRAINING,
    wire.Phase.EVALUATE: Phase.EVALUATING,
    wire.Phase.SAVE: Phase.SAVING,
}


def diagnose_path(path: Path, *, command: str = "", tick: Callable[[int, int], None] | None = None) -> Diagnosis:
    """Diagnose a log, a run folder, an output folder or an archive of one. Raises InputError."""
    with open_input(path) as given:
        facts = {**given.facts, **dict(_look_at_newest(path))}
        where = _read_where(given.run) if given.run is not None else None
        return correct_commands(diagnose_input(replace(given, facts=facts, where=where), command=command, tick=tick))


def find_path(path: str, home: Path | None) -> str:
    """Find the folder of a run that was named as `laststep runs` names it, where no file goes by that name."""
    if os.sep in path or "." in path or path == "-" or Path(path).exists():
        return path
    from laststep.journal.layout import find_home  # noqa: PLC0415  # only a run's name needs what lists runs
    from laststep.supervisor.list_runs import find_run  # noqa: PLC0415  # the same

    return str(find_run(path, find_home(os.environ, home)).path)


def _read_where(run: RunFolder) -> Whereabouts | None:
    """Read where the rank was that stopped first: others go on until they notice."""
    beats = [beat for attempt in run.attempts()[-1:] for beat in read_beats(attempt.beats)]
    if not beats:
        return None
    first = min(beats, key=lambda beat: beat.beat_at)
    time = datetime.fromtimestamp(first.beat_at).astimezone().isoformat(sep=" ", timespec="seconds")
    return Whereabouts(
        time=time, rank=first.rank, phase=_PHASES.get(first.phase), step=first.step, target_step=first.target_step
    )


def _look_at_newest(path: Path) -> Iterator[tuple[str, Evidence]]:
    """Look at the newest checkpoint of an output folder by its structure, whose headers alone are read."""
    try:
        newest = next(iter(find_checkpoints(path)), None) if path.is_dir() else None
        checked = verify_checkpoint(newest, ignores_hashes=True) if newest is not None else None
    except LaststepError:
        return
    if newest is None or checked is None or checked.soundness is not Soundness.UNSOUND:
        return
    for problem in checked.problems:
        if problem.kind in _FACTS:
            source = newest.relative_to(path).as_posix() if newest != path else newest.name
            yield _FACTS[problem.kind], Evidence(source, None, f"{problem.file or newest.name}: {problem.words.en}")

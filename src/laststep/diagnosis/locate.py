"""Where in the run was a line printed: on which rank, at which step, in which phase, when?

Read from the line itself and from what was printed before it. torch writes `[rank1]:` before what a rank says while it
fails, torchrun `[default1]:` with --tee, NCCL's watchdog `[Rank 1]`, torchrun's summary `rank : 1 (local_rank: 1)`.
"""

import re

from laststep.diagnosis.read_log import clean
from laststep.records.verdict import Phase, Whereabouts

WINDOW_BYTES = 16 * 1024  # before a line
_SUMMARY_BYTES = 1024
_ROOT_RANK = re.compile(rb"\brank\s{0,9}:\s{0,3}(\d{1,5})")
_RANK = re.compile(
    r"\[(?:rank|default|Rank |RANK )(\d{1,5})\]|\b[Rr]ank (\d{1,5})\b"
    r"|\brank\s{0,9}:\s{0,3}(\d{1,5}) \(local_rank|\blocal_rank: (\d{1,5}) \(pid"
)
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T_ ]\d\d:\d\d:\d\d|\d\d/\d\d/\d{4} \d\d:\d\d:\d\d|(?<=[IWE])\d{4} \d\d:\d\d:\d\d"
    r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}"
    r"|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d\b"
)
_STEP = re.compile(
    r"(?:^|[\r\n]|Train(?:ing)?: |Steps?: ) {0,4}\d{1,3}%\|[^|\r\n]{0,300}\| (\d{1,12})/(\d{1,12}) \["
    r"|'global_step/max_steps': '(\d{1,12})/(\d{1,12})'"
)
_PHASES = {
    Phase.LOADING: r"Loading checkpoint shards|Loading weights|, in (?:from_pretrained|load_model|_load_state_dict)\b",
    Phase.PREPARING: r"Running tokenizer on dataset|Map(?: \(num_proc=\d+\))?: |Generating \w+ split|, in _map_single\b"
    r"|, in load_dataset\b",
    Phase.TRAINING: r"'loss':|Train: |, in training_step\b|, in backward\b|, in _inner_training_loop\b",
    Phase.EVALUATING: r"Val: |Running Evaluation|, in evaluat\w+\b|, in prediction_step\b",
    Phase.SAVING: r"Saving model checkpoint|, in _?save\w*\b|Writing model shards",
}
_PHASE = re.compile("|".join(f"(?P<{phase.name}>{texts})" for phase, texts in _PHASES.items()))


def locate(data: bytes, begin: int, line: str) -> Whereabouts:
    """Tell where the run was when it printed the line that begins at `begin`."""
    before = clean_window(data[max(0, begin - WINDOW_BYTES) : begin])
    step = _last(_STEP, before)
    done, target = (
        (step.group(1) or step.group(3), step.group(2) or step.group(4)) if step is not None else (None, None)
    )
    phase = _last(_PHASE, before + line)
    time = _TIME.search(line) or _last(_TIME, before)
    return Whereabouts(
        time=time.group() if time is not None else None,
        rank=find_rank(line),
        phase=Phase[phase.lastgroup] if phase is not None and phase.lastgroup else None,
        step=int(done) if done else None,
        target_step=int(target) if target else None,
    )


def find_rank(line: str) -> int | None:
    """Find the rank that a line is of, or tells of."""
    match = _RANK.search(line)
    return int(next(number for number in match.groups() if number is not None)) if match is not None else None


def find_first_rank(data: bytes, summary: int) -> int | None:
    """Find in torchrun's summary, which begins its last part there, the rank that it saw failing first."""
    match = _ROOT_RANK.search(data, summary, summary + _SUMMARY_BYTES)
    return int(match.group(1)) if match is not None else None


def clean_window(data: bytes) -> str:
    """Turn what was printed before a line into text, from the beginning of a line on."""
    return clean(data[data.find(b"\n") + 1 :] if len(data) == WINDOW_BYTES else data)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return max(pattern.finditer(text), key=lambda match: match.start(), default=None)

"""Is what DeepSpeed wrote whole: `latest`, and every rank's part in the folder that it names?

From deepspeed/runtime/engine.py, `save_checkpoint`: `global_stepN/` holds `mp_rank_MM_model_states.pt`, under ZeRO-3
`zero_pp_rank_D_mp_rank_MM_model_states.pt`, and for each rank `[bf16_]zero_pp_rank_D_mp_rank_MM_optim_states.pt`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from laststep.checkpoints import problems
from laststep.checkpoints.contents import ReadCheckpoint
from laststep.checkpoints.kinds.run_facts import read_run_facts
from laststep.records.checkpoint import Problem, ProblemKind
from laststep.records.text import Text

LATEST = "latest"
SCRIPT = "zero_to_fp32.py"
Rank = tuple[int, int]  # data-parallel, model-parallel
MOST_RANKS = 1 << 20
TAG = re.compile(r"global_step(\d{1,18})")
_MODEL = re.compile(r"(?:zero_pp_rank_(\d+)_)?mp_rank_(\d+)(?:_\d+)?_model_states\.pt")
_OPTIMISER = re.compile(r"(?:bf16_|fp16_)?zero_pp_rank_(\d+)_mp_rank_(\d+)(?:_\d+)?_optim_states\.pt")
_FOR_LATEST = Text(en="DeepSpeed looks there for the folder to load", zh="DeepSpeed 从中得知要加载的目录")
_FOR_FOLDER = Text(en="it holds the states of model and optimiser", zh="其中是模型和优化器的状态")
_FOR_MODEL = Text(en="it holds the state of the model", zh="其中是模型的状态")
_FOR_RANK = Text(en="it holds the part of rank {rank}", zh="其中是 rank {rank} 的部分")
_FOR_SCRIPT = Text(en="DeepSpeed copies it into each checkpoint", zh="DeepSpeed 会把它复制到每个检查点")
_OTHER = Text(en="belongs to another step than {step}", zh="不属于第 {step} 步")


def judge(checkpoint: ReadCheckpoint) -> Iterator[Problem]:
    """Report what of DeepSpeed's folders is missing, stale or of another size of the world."""
    folders = {name.partition("/")[0] for name in checkpoint.contents.files if "/" in name}
    tags = sorted(folder for folder in folders if TAG.fullmatch(folder))
    if not checkpoint.has(LATEST) and not tags:
        if checkpoint.has(SCRIPT) or checkpoint.mapping("args.json").get("deepspeed"):
            yield problems.missing(LATEST, _FOR_LATEST)
            yield problems.missing(f"global_step{checkpoint.step}", _FOR_FOLDER)
        return
    tag = _read_latest(checkpoint)
    yield from _judge_latest(checkpoint, tag, folders)
    for folder in [tag] if tag in folders else tags:
        yield from _judge_folder(checkpoint, folder)


def _read_latest(checkpoint: ReadCheckpoint) -> str:
    if not checkpoint.has(LATEST):
        return ""
    try:
        with checkpoint.contents.path(LATEST).open("rb") as file:
            return file.read(4096).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _judge_latest(checkpoint: ReadCheckpoint, tag: str, folders: set[str]) -> Iterator[Problem]:
    if not checkpoint.has(LATEST):
        yield problems.missing(LATEST, _FOR_LATEST)
        return
    named = TAG.fullmatch(tag)
    if tag not in folders:
        yield _stale(tag, problems.NOT_THERE)
    elif named and checkpoint.step is not None and int(named[1]) != checkpoint.step:
        yield _stale(tag, _OTHER.fill(step=checkpoint.step))


def _stale(tag: str, what: Text) -> Problem:
    shown = repr(tag[:80])
    return problems.report(ProblemKind.STALE_POINTER, LATEST, problems.STALE_POINTER, target=shown, what=what)


def _judge_folder(checkpoint: ReadCheckpoint, folder: str) -> Iterator[Problem]:
    names = checkpoint.within(folder)
    models = [name for name in names if _MODEL.fullmatch(name)]
    optimisers = [match for match in map(_OPTIMISER.fullmatch, names) if match]
    if not models:
        yield problems.missing(f"{folder}/mp_rank_00_model_states.pt", _FOR_MODEL)
    states = {name: checkpoint.mapping(f"{folder}/{name}") for name in models}
    for name, state in states.items():
        yield from _judge_step(checkpoint, f"{folder}/{name}", state)
    for match in optimisers:
        yield from _judge_optimiser_step(checkpoint, f"{folder}/{match[0]}", states)
    if any("expp_rank" in name or "expert" in name for name in names):
        return  # with experts, which ranks write what depends on their layout
    yield from _judge_ranks(checkpoint, folder, optimisers, states)
    if optimisers and not checkpoint.has(SCRIPT):
        yield problems.missing(SCRIPT, _FOR_SCRIPT)


def _judge_step(checkpoint: ReadCheckpoint, name: str, state: Mapping[Any, Any]) -> Iterator[Problem]:
    """Hold the step that DeepSpeed counted against the checkpoint's."""
    found = state.get("global_steps")
    if type(found) is int and checkpoint.step is not None and found != checkpoint.step:
        yield problems.report(ProblemKind.WRONG_STEP, name, problems.WRONG_STEP, found=found, step=checkpoint.step)


def _judge_optimiser_step(
    checkpoint: ReadCheckpoint, name: str, models: Mapping[str, Mapping[Any, Any]]
) -> Iterator[Problem]:
    if read_run_facts(checkpoint).starts_optimiser_anew or checkpoint.step is None:
        return
    skipped = [state["skipped_steps"] for state in models.values() if type(state.get("skipped_steps")) is int]
    step = _find_step(checkpoint.mapping(name))
    expected = checkpoint.step - max(skipped, default=0)
    if step is not None and step != expected:
        yield problems.report(ProblemKind.WRONG_STEP, name, problems.WRONG_STEP, found=step, step=expected)


def _find_step(value: Mapping[Any, Any]) -> int | None:
    """Find the optimiser's step, which each stage of ZeRO wraps differently."""
    inner: Any = value.get("optimizer_state_dict")
    for name in ("base_optimizer_state", "optimizer_state_dict"):
        inner = inner[name] if isinstance(inner, dict) and isinstance(inner.get(name), dict) else inner
    states = inner.get("state") if isinstance(inner, dict) else None
    found = (
        [state.get("step") for state in states.values() if isinstance(state, dict)] if isinstance(states, dict) else []
    )
    steps = [step for step in found if isinstance(step, int | float)]
    return int(max(steps)) if steps else None


def _judge_ranks(
    checkpoint: ReadCheckpoint, folder: str, optimisers: list[re.Match[str]], states: Mapping[str, Mapping[Any, Any]]
) -> Iterator[Problem]:
    """Every rank that took part has written its part of the optimiser."""
    if not optimisers and not _is_partitioned(states):
        return
    found = {(int(match[1]), int(match[2])) for match in optimisers}
    expected = _expected_ranks(found, states)
    prefix = optimisers[0][0].partition("zero_pp")[0] if optimisers else ""
    for dp, mp in sorted(expected - found):
        name = f"{folder}/{prefix}zero_pp_rank_{dp}_mp_rank_{mp:02}_optim_states.pt"
        yield problems.missing(name, _FOR_RANK, rank=dp)
    random = len(read_run_facts(checkpoint).random_ranks)
    for count in (len(found) if found - expected else 0, random if random < len(expected) else 0):
        if count:
            yield problems.report(
                ProblemKind.WRONG_WORLD_SIZE, folder, problems.WRONG_WORLD_SIZE, found=count, expected=len(expected)
            )
    yield from _judge_partitions(folder, expected, states)


def _expected_ranks(found: set[Rank], states: Mapping[str, Mapping[Any, Any]]) -> set[Rank]:
    """Take the sizes that the states of the model know, else those that the names of the files reach."""
    for state in states.values():
        dps, mps = state.get("dp_world_size"), state.get("mp_world_size") or 1
        if type(dps) is int and type(mps) is int and 0 < dps < MOST_RANKS and 0 < mps < MOST_RANKS:
            return {(dp, mp) for dp in range(dps) for mp in range(mps)}
    dps, mps = (max((rank[place] for rank in found), default=0) + 1 for place in (0, 1))
    return {(dp, mp) for dp in range(dps) for mp in range(mps)}


def _judge_partitions(folder: str, expected: set[Rank], states: Mapping[str, Mapping[Any, Any]]) -> Iterator[Problem]:
    """Under ZeRO-3 every rank has written its part of the model too."""
    named = [match for match in map(_MODEL.fullmatch, states) if match and match[1]]
    present = {(int(match[1]), int(match[2])) for match in named}
    for dp, mp in sorted(expected - present if named else ()):
        yield problems.missing(f"{folder}/zero_pp_rank_{dp}_mp_rank_{mp:02}_model_states.pt", _FOR_RANK, rank=dp)


def _is_partitioned(states: Mapping[str, Mapping[Any, Any]]) -> bool:
    """Tell whether ZeRO keeps the optimiser outside the state of the model."""
    return any("optimizer" in state and state["optimizer"] is None for state in states.values())

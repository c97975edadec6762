"""Can a trainer go on from it: state, optimiser, scheduler, random states, arguments?

transformers' Trainer writes these names (src/transformers/trainer.py, `_save_checkpoint`); ms-swift adds args.json.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from laststep.checkpoints import problems
from laststep.checkpoints.contents import ReadCheckpoint
from laststep.checkpoints.kinds.misspelt import find_misspelt
from laststep.checkpoints.kinds.run_facts import RunFacts, read_run_facts
from laststep.records.checkpoint import Problem, ProblemKind
from laststep.records.text import Text

_STATE_NAMES = tuple(
    """
    best_global_step best_metric best_model_checkpoint epoch eval_steps global_step is_hyper_param_search
    is_local_process_zero is_world_process_zero log_history logging_steps max_steps num_input_tokens_seen
    num_train_epochs save_steps stateful_callbacks total_flos train_batch_size trial_name trial_params
    """.split()
)
_FOR_STATE = Text(en="it holds the step and the logs", zh="其中记录了步数和日志")
_FOR_ARGUMENTS = Text(en="it holds the arguments of the training", zh="其中记录了训练参数")
_FOR_SWIFT = Text(en="ms-swift reads its arguments from it", zh="ms-swift 从中读取参数")
_FOR_OPTIMISER = Text(en="without it the optimiser would begin anew", zh="缺少它，优化器将从头开始")
_FOR_SCHEDULER = Text(en="without it the learning rate would begin anew", zh="缺少它，学习率将从头开始")
_FOR_RANDOM = Text(
    en="without it rank {rank} would draw other random numbers", zh="缺少它，rank {rank} 会得到不同的随机数"
)
_ONLY_MODEL = Text(
    en="the run saved only the model (save_only_model), which no run can be resumed from",
    zh="该运行只保存了模型（save_only_model），无法据此续训",
)
_NO_STATE = Text(en="it is no state of a trainer", zh="不是 Trainer 的状态")
_MISSPELT = Text(en="{name!r} should be {similar!r}", zh="{name!r} 应为 {similar!r}")
_LOG_ORDER = Text(en="the logs reach step {last}, beyond step {step}", zh="日志到第 {last} 步，超过第 {step} 步")


def judge(checkpoint: ReadCheckpoint) -> Iterator[Problem]:
    """Report what a trainer would miss, and what belongs to another step or number of ranks."""
    if not _is_of_a_trainer(checkpoint):
        return
    facts = read_run_facts(checkpoint)
    yield from _judge_state(checkpoint)
    if not checkpoint.has("training_args.bin"):
        yield problems.missing("training_args.bin", _FOR_ARGUMENTS)
    if facts.is_swift and not checkpoint.has("args.json"):
        yield problems.missing("args.json", _FOR_SWIFT)
    yield from _judge_optimiser(checkpoint, facts)
    yield from _judge_ranks(facts)
    yield from _judge_steps(checkpoint, facts)


def _is_of_a_trainer(checkpoint: ReadCheckpoint) -> bool:
    """Tell it from a checkpoint that a training loop of the user's own wrote with torch or DeepSpeed alone."""
    names = {name for name in checkpoint.contents.files if "/" not in name}
    own_loop = {".metadata", "latest", "zero_to_fp32.py"} & names or any(name.endswith(".distcp") for name in names)
    trainers = ("trainer_state.json", "training_args.bin", "args.json", "scheduler.pt", "rng_state")
    return not own_loop or any(name.startswith(trainers) for name in names)


def _judge_state(checkpoint: ReadCheckpoint) -> Iterator[Problem]:
    name = "trainer_state.json"
    if not checkpoint.has(name):
        yield problems.missing(name, _FOR_STATE)
        return
    state = checkpoint.mapping(name)
    if checkpoint.readings[name].problems:
        return
    step, logs = state.get("global_step"), state.get("log_history")
    for found, similar in find_misspelt(map(str, state), _STATE_NAMES):
        yield problems.torn(name, _MISSPELT, name=found, similar=similar)
    if type(step) is not int or not isinstance(logs, list):
        yield problems.torn(name, _NO_STATE)
        return
    last = max((log["step"] for log in logs if isinstance(log, dict) and type(log.get("step")) is int), default=0)
    if last > step:
        yield problems.torn(name, _LOG_ORDER, last=last, step=step)


def _judge_optimiser(checkpoint: ReadCheckpoint, facts: RunFacts) -> Iterator[Problem]:
    has_folder = bool(checkpoint.within("optimizer_0"))
    is_deepspeed = facts.has_deepspeed_folder or checkpoint.has("latest")
    has_optimiser = any(map(checkpoint.has, ("optimizer.pt", "optimizer.bin"))) or has_folder or is_deepspeed
    has_scheduler = checkpoint.has("scheduler.pt") or (is_deepspeed and _has_own_scheduler(checkpoint))
    if not has_optimiser and facts.saves_only_model:
        yield problems.missing("optimizer.pt", _ONLY_MODEL)
        return
    if not has_optimiser:
        yield problems.missing("optimizer.pt", _FOR_OPTIMISER)
    if not has_scheduler:
        yield problems.missing("scheduler.pt", _FOR_SCHEDULER)
    ranks = max((*facts.random_ranks, (facts.world_size or 1) - 1)) + 1
    if not facts.random_ranks and ranks == 1:
        yield problems.missing("rng_state.pth", _FOR_RANDOM, rank=0)
    elif not facts.is_one_process and not facts.is_of_one_node:
        # A state that carries a rank has a companion, since one process alone writes none.
        absent = set(range(max(ranks, 2))) - set(facts.random_ranks)
        yield from (problems.missing(f"rng_state_{rank}.pth", _FOR_RANDOM, rank=rank) for rank in sorted(absent))


def _has_own_scheduler(checkpoint: ReadCheckpoint) -> bool:
    """Tell whether DeepSpeed keeps the scheduler itself, which it does when its configuration names one."""
    states = (checkpoint.mapping(name) for name in checkpoint.contents.files if name.endswith("_model_states.pt"))
    return any(state.get("lr_scheduler") for state in states)


def _judge_ranks(facts: RunFacts) -> Iterator[Problem]:
    states = len(facts.random_ranks)
    expected = facts.world_size
    if facts.is_one_process and states > 1:
        yield _wrong_size("rng_state.pth", 1, states - 1)
    elif expected and states > expected:
        yield _wrong_size(f"rng_state_{facts.random_ranks[-1]}.pth", states, expected)
    elif expected and expected > 1 and facts.is_one_process:
        yield _wrong_size("rng_state.pth", 1, expected)


def _wrong_size(file: str, found: int, expected: int) -> Problem:
    return problems.report(
        ProblemKind.WRONG_WORLD_SIZE, file, problems.WRONG_WORLD_SIZE, found=found, expected=expected
    )


def _judge_steps(checkpoint: ReadCheckpoint, facts: RunFacts) -> Iterator[Problem]:
    """Hold the steps that files know of against that of the checkpoint."""
    state = checkpoint.mapping("trainer_state.json").get("global_step")
    step = checkpoint.step if checkpoint.step is not None else state
    if type(state) is int and state != step:
        yield _wrong_step("trainer_state.json", state, step)
    optimiser, scheduler = _optimiser_step(checkpoint), _scheduler_step(checkpoint.mapping("scheduler.pt"))
    if facts.starts_optimiser_anew or step is None:
        return
    if facts.uses_fp16:
        # Steps whose gradients overflowed are skipped by the optimiser and the scheduler, and counted by the trainer.
        latest = min(step, scheduler) if scheduler is not None else step
        if optimiser is not None and scheduler is not None and optimiser != scheduler:
            yield _wrong_step("optimizer.pt", optimiser, latest)
        elif (scheduler or 0) > step:
            yield _wrong_step("scheduler.pt", scheduler, step)
        return
    for name, found in (("optimizer.pt", optimiser), ("scheduler.pt", scheduler)):
        if found is not None and found != step:
            yield _wrong_step(name, found, step)


def _wrong_step(file: str, found: Any, step: Any) -> Problem:
    return problems.report(ProblemKind.WRONG_STEP, file, problems.WRONG_STEP, found=found, step=step)


def _optimiser_step(checkpoint: ReadCheckpoint) -> int | None:
    name = "optimizer.pt" if checkpoint.has("optimizer.pt") else "optimizer.bin"
    states = checkpoint.mapping(name).get("state")
    if not isinstance(states, Mapping):
        return None
    steps = [state.get("step") for state in states.values() if isinstance(state, Mapping)]
    numbers = [step for step in steps if isinstance(step, int | float) and math.isfinite(step)]
    return int(max(numbers)) if numbers else None


def _scheduler_step(state: Mapping[Any, Any]) -> int | None:
    last = state.get("last_epoch")
    # One that waits for a metric counts evaluations instead of steps.
    return last if type(last) is int and "num_bad_epochs" not in state and last > 0 else None

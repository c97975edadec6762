"""Is a run whose loader workers are killed the same, to the last bit, as one that was left alone?

At least ten SIGKILLs in a run: several workers at once, one during a save, one during an evaluation.
"""

from harness import Bench, read_run_events, run_bench, run_supervised
from laststep.demo.kill_workers import Occasion, WorkerKiller, at_step, in_phase
from laststep.demo.trained import have_same_tensors
from laststep.host.clock import SystemClock
from laststep_guard.wire import EventKind, Phase

DATA = ("--rows", "120", "--negatives", "12-12")
FLAGS = ("--lora_dropout", "0.05", "--dataloader_num_workers", "4")
LEAST_KILLS = 10
LONGEST_PAUSE_SECONDS = 0.5  # a death


def occasions(ranks: int) -> list[Occasion]:
    """Plan the kills; with several ranks the last one is hit as well."""
    last = ranks - 1
    return [
        at_step(2),
        at_step(4, victims=3),
        in_phase(Phase.SAVE, after_step=5),
        at_step(7, rank=last),
        in_phase(Phase.EVALUATE, after_step=10, loader="evaluate"),
        at_step(12, rank=last, victims=2),
        at_step(16, victims=2),
        in_phase(Phase.SAVE, after_step=20),
        at_step(22, rank=last),
    ]


def measure(bench: Bench, extra: tuple[str, ...] = (), ranks: int = 1) -> None:
    flags = [*FLAGS, *extra]
    killer = WorkerKiller(occasions(ranks), SystemClock().now)
    disturbed = run_supervised(
        bench.reported("disturbed", DATA, ranks=ranks, flags=flags), look=lambda _, folder: killer.look(folder)
    )
    undisturbed = run_supervised(bench.reported("undisturbed", DATA, ranks=ranks, flags=flags))
    kills = [f"{kill.occasion.en} ({kill.phase.name.lower()})" for kill in killer.kills]
    rebuilt = read_run_events(disturbed, EventKind.LOADER_REBUILT)
    bench.claim(
        f"at least {LEAST_KILLS} workers were killed, at every occasion planned",
        holds=len(kills) >= LEAST_KILLS and not killer.missed, figure=f"{len(kills)}: {', '.join(kills)}",
    )  # fmt: skip
    bench.claim(
        "both runs exit with 0", holds=disturbed.exit_code == 0 == undisturbed.exit_code,
        figure=f"{disturbed.exit_code} and {undisturbed.exit_code}",
    )  # fmt: skip
    ours, theirs = disturbed.trained, undisturbed.trained
    bench.claim(
        "their losses are bit-identical", holds=bool(ours.losses) and ours.losses == theirs.losses,
        figure=f"{len(ours.losses)} losses, the last {ours.losses[-1] if ours.losses else None}",
    )  # fmt: skip
    is_same = have_same_tensors(ours.adapter, theirs.adapter)
    bench.claim("their final adapters are bit-identical", holds=is_same, figure=is_same)
    seconds = [float(event.fields.get("seconds") or 0) for event in rebuilt]
    bench.claim(
        "the loader was rebuilt",
        holds=bool(seconds),
        figure=f"{len(seconds)} times, at most {max(seconds, default=0):.3f} s each",
    )
    added = ((ours.train_seconds or 0) - (theirs.train_seconds or 0)) / max(len(kills), 1)
    bench.claim(
        f"a death adds at most {LONGEST_PAUSE_SECONDS} s", holds=added <= LONGEST_PAUSE_SECONDS, figure=f"{added:.3f} s"
    )
    for run in (disturbed, undisturbed):
        if run.exit_code != 0:
            bench.show_end(run.output)


if __name__ == "__main__":
    run_bench("Loader workers are killed", measure)

"""Does the reported hang end under laststep?

Rows without negatives give one rank of ms-swift 4.0.0 a loss that reaches no weight; it misses the gradient exchange,
and both wait for ever. Alone the run stands still for a minute; under laststep it makes all its steps
and names the rows.
"""

from harness import Bench, read_run_events, run_bench, run_stock, run_supervised
from laststep_guard.wire import EventKind

DATA = ("--rows", "60", "--no-negative-every", "5")
STILL_SECONDS = 60.0
STEPS = 14
CHECKPOINTS = (5, 10, 14)


def measure(bench: Bench, extra: tuple[str, ...] = (), *, may_fail: bool = False) -> None:
    """Make the claims; with `may_fail` an error of the stock run counts as well as a hang."""
    stock = run_stock(bench.reported("stock", DATA, ranks=2, flags=extra), still_seconds=STILL_SECONDS)
    stopped = f"stands still for {STILL_SECONDS:.0f} s" + (" or fails" if may_fail else "")
    bench.claim(
        f"alone it {stopped}",
        holds=(stock.is_hung or (may_fail and stock.exit_code != 0)) and 0 < stock.trained.steps < STEPS,
        figure=f"step {stock.trained.steps} of {STEPS}, exit code {stock.exit_code}",
    )
    supervised = run_supervised(bench.reported("supervised", DATA, ranks=2, flags=extra))
    trained = supervised.trained
    bench.claim("under laststep it exits with 0", holds=supervised.exit_code == 0, figure=supervised.exit_code)
    bench.claim(f"it makes all {STEPS} steps", holds=trained.steps == STEPS, figure=trained.steps)
    bench.claim("it saves 3 checkpoints", holds=trained.checkpoints == CHECKPOINTS, figure=list(trained.checkpoints))
    detached = read_run_events(supervised, EventKind.LOSS_DETACHED)
    rows = sorted({str(row) for event in detached for row in event.fields.get("rows", ())})
    named = bool(detached) and all(event.fields.get("rows") for event in detached)
    bench.claim(
        "it names the rows without negatives", holds=named, figure=f"{len(detached)} losses; {'; '.join(rows)[:300]}"
    )
    if supervised.exit_code != 0:
        bench.show_end(supervised.output)


if __name__ == "__main__":
    run_bench("A row without negatives hangs two ranks", measure, env="reported")

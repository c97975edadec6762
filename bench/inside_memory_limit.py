"""Does the run stay inside a container's memory, where the kernel kills a loader worker of the stock run?

Three limits with the real OOM killer: the reported maxima in 7 GiB, eight micro-batches an accumulation in 4 GiB, and
the loader alone (each document still encoded many times) in 12 GiB. Needs root for the cgroup.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness import DOCUMENTS_FIX_OFF, Bench, read_memcap, run_bench, run_stock, run_supervised, within
from laststep.demo.trained import largest_difference

LARGEST_LOSS_DIFFERENCE = 1e-4
# One optimiser step a row, no rows kept for evaluation, no dropout: the losses of two runs can be compared.
FLAGS = ("--lora_dropout", "0", "--split_dataset_ratio", "0", "--eval_strategy", "no")
DOCUMENTS = ("--positives", "10-10", "--negatives", "10-10")


@dataclass(frozen=True, slots=True)
class Case:
    """A limit that the stock run does not survive."""

    name: str
    limit: str
    data: Sequence[str]
    steps: int
    workers: int
    accumulation: int = 1
    options: Sequence[str] = ()

    @property
    def flags(self) -> list[str]:
        return [*FLAGS, "--gradient_accumulation_steps", str(self.accumulation)]


CASES = (
    Case("declared maxima", "7G", ("--rows", "8", "--pixels", "880", *DOCUMENTS), steps=8, workers=4),
    Case(
        "long accumulation", "4G", ("--rows", "16", "--pixels", "448", *DOCUMENTS), steps=2, workers=1, accumulation=8
    ),
    Case("loader alone", "12G", ("--rows", "8", "--pixels", "880", *DOCUMENTS), 8, 4, options=DOCUMENTS_FIX_OFF),
)


def measure(bench: Bench) -> None:
    for case in CASES:
        if bench.only not in (None, case.name):
            continue
        bench.say(f"  {case.name}: {case.workers} workers in {case.limit}iB")
        _measure_case(bench, case)


def _measure_case(bench: Bench, case: Case) -> None:
    workers = ["--dataloader_num_workers", str(case.workers)]
    stock_run = bench.reported(f"{case.name} stock", case.data, flags=[*case.flags, *workers])
    stock = run_stock(stock_run, wrapper=within(case.limit))
    peak, kills = read_memcap(stock.output)
    bench.claim(
        "alone a worker is OOM-killed", holds=kills > 0 and stock.exit_code not in (0, None),
        figure=f"{kills} OOM kills, peak {peak:.1f} GiB, exit code {stock.exit_code}",
    )  # fmt: skip
    supervised_run = bench.reported(f"{case.name} supervised", case.data, flags=[*case.flags, *workers])
    supervised = run_supervised(supervised_run, options=case.options, wrapper=within(case.limit))
    peak, kills = read_memcap(supervised.output)
    steps = supervised.trained.steps
    bench.claim("under laststep it exits with 0", holds=supervised.exit_code == 0, figure=supervised.exit_code)
    bench.claim("nothing is OOM-killed", holds=kills == 0, figure=f"{kills} OOM kills, peak {peak:.1f} GiB")
    bench.claim(f"it makes all {case.steps} steps", holds=steps == case.steps, figure=steps)
    # One worker needs the least memory; without dropout and drawn documents their number does not change a loss.
    reference_run = bench.reported(
        f"{case.name} reference", case.data, flags=[*case.flags, "--dataloader_num_workers", "1"]
    )
    difference = largest_difference(supervised.trained, run_stock(reference_run).trained)
    bench.claim(
        f"its losses are within {LARGEST_LOSS_DIFFERENCE:g} of a run without a limit and without laststep",
        holds=difference <= LARGEST_LOSS_DIFFERENCE, figure=f"{difference:.2g}",
    )  # fmt: skip
    if supervised.exit_code != 0:
        bench.show_end(supervised.output)


if __name__ == "__main__":
    run_bench("The loader outgrows a memory limit", measure)

"""How much faster is a run whose documents are encoded once, and are its losses the same?

Ten positives and ten negatives a row, of 448 x 448 pixels: stock encodes 110 documents where there are 20.
"""

from harness import Bench, run_bench, run_stock, run_supervised
from laststep.demo.trained import largest_difference

DATA = ("--rows", "12", "--pixels", "448", "--positives", "10-10", "--negatives", "10-10")
FLAGS = ("--lora_dropout", "0", "--split_dataset_ratio", "0", "--eval_strategy", "no")
LARGEST_SHARE = 1 / 4
LARGEST_LOSS_DIFFERENCE = 1e-5


def measure(bench: Bench) -> None:
    stock = run_stock(bench.reported("stock", DATA, flags=FLAGS))
    supervised = run_supervised(bench.reported("supervised", DATA, flags=FLAGS))
    ours, theirs = supervised.trained.train_seconds, stock.trained.train_seconds
    share = ours / theirs if ours and theirs else float("inf")
    bench.claim(
        "training takes at most a quarter of the time", holds=share <= LARGEST_SHARE,
        figure=f"{theirs} s alone, {ours} s under laststep: {share:.2f}",
    )  # fmt: skip
    difference = largest_difference(supervised.trained, stock.trained)
    bench.claim(
        f"the losses are within {LARGEST_LOSS_DIFFERENCE:g}", holds=difference <= LARGEST_LOSS_DIFFERENCE,
        figure=f"{difference:.2g} over {supervised.trained.steps} steps",
    )  # fmt: skip
    if supervised.exit_code != 0:
        bench.show_end(supervised.output)


if __name__ == "__main__":
    run_bench("Each document is encoded once", measure)

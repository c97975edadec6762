"""Do the hang and the killed workers end as well under DeepSpeed ZeRO-2 on two ranks?"""

import hang_on_two_ranks
import kill_workers
from harness import Bench, run_bench

ZERO_2 = ("--deepspeed", "zero2")


def measure(bench: Bench) -> None:
    bench.say("  rows without negatives")
    hang_on_two_ranks.measure(bench, ZERO_2)
    bench.say("  killed workers")
    kill_workers.measure(bench, ZERO_2, ranks=2)


if __name__ == "__main__":
    run_bench("The same under DeepSpeed ZeRO-2", measure, env="reported")

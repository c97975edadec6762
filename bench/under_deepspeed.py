"""Do the hang and the killed workers end as well under DeepSpeed ZeRO-2 on two ranks?"""

import hang_on_two_ranks
import kill_workers
from harness import Bench, run_bench

# ms-swift asks for fp16 when told float32, which DeepSpeed does not do on a CPU; bfloat16 is the report's own.
# Without a trained bias ms-swift 4.0.0 makes an empty group of parameters, which DeepSpeed drops and the scheduler of a
# newer torch then misses: stock ends before its first step.
ZERO_2 = ("--deepspeed", "zero2", "--torch_dtype", "bfloat16", "--lora_bias", "all")


def measure(bench: Bench) -> None:
    if bench.env == "reported":  # ms-swift 4.6.0 knows what to do with a row without negatives
        bench.say("  rows without negatives")
        hang_on_two_ranks.measure(bench, ZERO_2, may_fail=True)  # DeepSpeed refuses such a loss where DDP hangs
    bench.say("  killed workers")
    kill_workers.measure(bench, ZERO_2, ranks=2)


if __name__ == "__main__":
    run_bench("The same under DeepSpeed ZeRO-2", measure, env="reported")

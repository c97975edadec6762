"""Is every damage to a checkpoint found, with the right reason, and no sound one accused?

Real checkpoints of ms-swift, transformers, PEFT, DeepSpeed, torch.distributed.checkpoint and FSDP, made here; seeded
damages to copies of them, once without a manifest and once with one.
"""

import collections
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

from damages import DAMAGES, MANIFEST, Done, Patient, make_nan
from harness import PROJECT, Bench, run_bench, run_stock
from laststep.checkpoints.manifest import seal_checkpoint
from laststep.checkpoints.verify import verify_checkpoint
from laststep.records.checkpoint import CheckedCheckpoint, ProblemKind, SaveFacts, Soundness

SEED = 20261201
DRIVERS = PROJECT / "tests" / "checkpoints" / "drivers"
DATA = ("--rows", "60")
SWIFT_FLAGS = ("--max_steps", "5", "--save_steps", "1", "--eval_strategy", "no", "--save_total_limit", "9")
FOUND, NOTHING, INVISIBLE = "found", "nothing damaged", "invisible in"
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")


def measure(bench: Bench) -> None:
    made = bench.work / "made"
    if not made.exists():
        make_all(bench, made)
    found = collections.defaultdict(list)
    for path in sorted(made.rglob("checkpoint-*")):
        found[path.parent.relative_to(made).as_posix()].append(path)
    bench.say(f"  {sum(map(len, found.values()))} checkpoints of {len(found)} kinds: {', '.join(sorted(found))}")
    age(made)
    accuse_none(bench, [path for paths in found.values() for path in paths])
    sealed = bench.work / "sealed"
    shutil.rmtree(sealed, ignore_errors=True)
    shutil.copytree(made, sealed)
    seals = [seal_checkpoint(path, SaveFacts(run_id="bench")) for path in sorted(sealed.rglob("checkpoint-*"))]
    age(sealed)
    bench.claim("all are sealed", holds=all(seal.is_sealed for seal in seals), figure=len(seals))
    damage(bench, made, sealed, found)


def make_all(bench: Bench, made: Path) -> None:
    current, reported = bench.python("current"), bench.python("reported")
    drive(current, "make_trainer.py", made, "full", "sharded", "lora", "legacy")
    drive(reported, "make_trainer.py", made, "bin", "lora-bin")
    drive(current, "make_distributed.py", made, ranks=2)
    drive(current, "make_trainer.py", made / "two", "lora", "full", ranks=2)
    for stage in ("zero2", "zero3"):
        drive(current, "make_trainer.py", made, stage, ranks=2)
    for ranks in (1, 2):
        run = bench.reported(f"swift-{ranks}", DATA, ranks=ranks, flags=SWIFT_FLAGS)
        run_stock(run)
        for launch in run.output_dir.glob("v*"):
            shutil.copytree(launch, made / f"swift-{ranks}", ignore=shutil.ignore_patterns("runs", "*.jsonl", "images"))


def drive(python: Path, driver: str, *words: object, ranks: int = 1) -> None:
    started = time.monotonic()
    command = [python, *(TORCHRUN if ranks > 1 else ()), DRIVERS / driver, *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}
    ran = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - started
    print(f"  made {words[1:]} in {seconds:.0f} s, exit {ran.returncode}", file=sys.stderr, flush=True)
    if ran.returncode:
        print(ran.stderr[-2000:], file=sys.stderr)


def age(folder: Path) -> None:
    """Let files look as old as they are when somebody comes back to them."""
    for path in folder.rglob("*"):
        os.utime(path, (time.time() - 3600,) * 2)


def accuse_none(bench: Bench, paths: list[Path]) -> None:
    checked = [verify_checkpoint(path, is_deep=True) for path in paths]
    accused = [one for one in checked if one.soundness is not Soundness.SOUND]
    for one in accused:
        bench.say(f"    accused: {one.path}: {describe(one)}")
    bench.claim("at least 60 sound checkpoints, and none accused", holds=len(paths) >= 60 and not accused,
                figure=f"{len(accused)} of {len(paths)}")  # fmt: skip


def damage(bench: Bench, made: Path, sealed: Path, found: dict[str, list[Path]]) -> None:
    """Do the same damages without and with a manifest, and count what was missed."""
    outcomes = {False: collections.Counter(), True: collections.Counter()}
    names = sorted(found)
    number = tries = 0
    for how, count in DAMAGES.items():
        left = count
        while left:
            tries += 1
            kind = names[number % len(names)]
            one, other = random.Random(SEED + tries).sample(found[kind], 2)
            results = {}
            for is_sealed, root in ((False, made), (True, sealed)):
                copy = bench.work / "copy" / one.name
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(root / one.relative_to(made), copy)
                done = how(Patient(copy, root / other.relative_to(made), random.Random(SEED + tries), kind))
                if is_sealed and how is make_nan:  # a diverged run seals what it saved
                    (copy / MANIFEST).unlink()
                    seal_checkpoint(copy, SaveFacts())
                age(copy)
                checked = verify_checkpoint(copy, is_deep=done.is_deep)
                results[is_sealed] = judge(done, checked, is_sealed=is_sealed)
                if results[is_sealed] not in {FOUND, NOTHING}:
                    manner = "sealed" if is_sealed else "bare"
                    bench.say(f"    {results[is_sealed]}: {manner} {kind}: {done.what}: {describe(checked)}")
            if NOTHING in results.values():
                continue
            left, number = left - 1, number + 1
            for is_sealed, outcome in results.items():
                outcomes[is_sealed][outcome] += 1
    claim_all(bench, outcomes)


def claim_all(bench: Bench, outcomes: dict[bool, collections.Counter]) -> None:
    for is_sealed, counted in outcomes.items():
        unseen = {outcome: count for outcome, count in counted.items() if outcome.startswith(INVISIBLE)}
        missed = sum(counted.values()) - counted[FOUND] - (0 if is_sealed else sum(unseen.values()))
        text = "with a manifest, all found" if is_sealed else "without one, all found that structure can show"
        bench.claim(f"{sum(counted.values())} damages {text}, for the right reason", holds=not missed,
                    figure=f"{counted[FOUND]} found, {missed} missed" + "".join(
                        f"; {count} {outcome}" for outcome, count in unseen.items()))  # fmt: skip


def judge(done: Done, checked: CheckedCheckpoint, *, is_sealed: bool) -> str:
    if not done.kinds:
        return NOTHING
    kinds = {problem.kind for problem in checked.problems}
    if checked.soundness is Soundness.SOUND:
        return f"{INVISIBLE} {done.needs_manifest}" if done.needs_manifest else "MISSED"
    expected = done.kinds
    if is_sealed:  # then a flipped bit has one reason alone
        is_flip = done.what.startswith("flip")
        expected = {ProblemKind.CHANGED} if is_flip else expected | {ProblemKind.CHANGED, ProblemKind.MISSING}
    return FOUND if kinds & expected else "WRONG REASON"


def describe(checked: CheckedCheckpoint) -> str:
    return "; ".join(f"{problem.kind.value} {problem.file} {problem.words.en}" for problem in checked.problems[:4])


if __name__ == "__main__":
    run_bench("Every damage is found", measure)

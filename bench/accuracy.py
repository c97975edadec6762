"""Is the log of a real fault diagnosed rightly?

Every fault of `tests/faults/` is made for real: a training is started, broken, and what it printed is diagnosed. The
cause was written down with the fault. `--kept` diagnoses the logs of an earlier time instead, and `--update` keeps
those of this one; names of faults pick some. Some need root: memory limits, mounts and namespaces are real.

    python bench/accuracy.py [--kept | --update] [FAULT…]
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "tests"))
from faults.catalog import FAULTS, name_of
from faults.scene import Broken, FaultDidNotFireError, Scene, hear_signals
from laststep.diagnosis.diagnose import diagnose
from laststep.diagnosis.read_log import open_text

KEPT = PROJECT / "tests" / "logs" / "failed"


def read_kept(fault):
    log, command = (KEPT / f"{name_of(fault)}.{kind}" for kind in ("log", "command"))
    return Broken(log.read_text(encoding="utf-8"), command.read_text(encoding="utf-8"), exit_code=1)


def keep(fault, broken):
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / f"{name_of(fault)}.log").write_text(broken.log, encoding="utf-8")
    (KEPT / f"{name_of(fault)}.command").write_text(broken.command + "\n", encoding="utf-8")


def make(fault):
    with tempfile.TemporaryDirectory(prefix="fault-") as work:
        return fault.break_run(Scene(Path(work)))


def measure(fault, arguments):
    """Give how it ended: right, second (or third), wrong, or not made."""
    started = time.monotonic()
    try:
        broken = read_kept(fault) if arguments.kept else make(fault)
    except FaultDidNotFireError as error:
        print(f"  {name_of(fault)}: NOT MADE: {error}", flush=True)
        return "not made"
    if arguments.update:
        keep(fault, broken)
    seen = diagnose(open_text(broken.log), source="the log", command=broken.command)
    ranked = [seen.verdict.cause, *(other.cause for other in seen.alternatives)]
    place = ranked[:3].index(fault.CAUSE) if fault.CAUSE in ranked[:3] else None
    outcome = {0: "right", None: "wrong"}.get(place, "among three")
    told = "" if outcome == "right" else f", is {fault.CAUSE}"
    print(f"  {name_of(fault)}: {outcome}: {ranked[0]}{told} ({time.monotonic() - started:.1f} s)", flush=True)
    return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", action="store_true", help="diagnose the kept logs; nothing is run")
    parser.add_argument("--update", action="store_true", help="keep the logs of this time")
    parser.add_argument("fault", nargs="*", help="these only")
    arguments = parser.parse_args()
    hear_signals()
    chosen = [fault for fault in FAULTS if not arguments.fault or name_of(fault) in arguments.fault]
    counted = Counter(measure(fault, arguments) for fault in chosen)
    right, three = counted["right"], counted["right"] + counted["among three"]
    print(f"{right} of {len(chosen)} faults named rightly ({right / len(chosen):.0%}), {three} among the first three; "
          f"{counted['not made']} could not be made")  # fmt: skip
    return 0 if right == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())

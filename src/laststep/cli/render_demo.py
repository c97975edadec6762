"""How does the demonstration look?"""

from collections.abc import Callable, Iterator
from typing import Any

from laststep.demo.demonstrate import Demonstration
from laststep.demo.run_laststep import SupervisedRun
from laststep.demo.timeline import Moment

Paint = Callable[[str, str], str]
MARKS = {"kill": ("✗", "31"), "cure": ("↻", "32"), "save": ("◆", "36"), "end": ("●", "1;32"), "note": ("·", "2")}


def write_demonstration_lines(shown: Demonstration, *, is_colourful: bool = False) -> list[str]:
    """Write the timeline and the comparison."""

    def paint(text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if is_colourful else text

    lines = ["", paint("    time   rank  what happened", "2")]
    lines += [_moment_line(moment, paint) for moment in shown.moments]
    return [*lines, "", *_verdict_lines(shown, paint), ""]


def list_demonstration_values(shown: Demonstration) -> dict[str, Any]:
    """Give the demonstration as plain values for JSON."""
    return {
        "proven": shown.is_proven,
        "kills": len(shown.kills),
        "missed": list(shown.missed),
        "same_losses": shown.has_same_losses,
        "same_adapter": shown.has_same_adapter,
        "disturbed": _run_values(shown.disturbed, shown.disturbed_seconds),
        "undisturbed": _run_values(shown.undisturbed, shown.undisturbed_seconds),
        "timeline": [
            {"seconds": round(moment.seconds, 3), "rank": moment.rank, "mark": moment.mark, "text": moment.text}
            for moment in shown.moments
        ],
    }


def _run_values(run: SupervisedRun, seconds: float) -> dict[str, Any]:
    trained = run.trained
    return {
        "exit_code": run.exit_code,
        "steps": trained.steps,
        "checkpoints": list(trained.checkpoints),
        "last_loss": trained.losses[-1] if trained.losses else None,
        "seconds": round(seconds, 1),
        "report": run.report,
    }


def _moment_line(moment: Moment, paint: Paint) -> str:
    sign, colour = MARKS[moment.mark]
    rank = " " if moment.rank is None else str(moment.rank)
    return f"  {moment.seconds:5.1f} s   {rank:>3}   {paint(sign, colour)} {moment.text}"


def _verdict_lines(shown: Demonstration, paint: Paint) -> Iterator[str]:
    def line(claim: object, text: str) -> str:
        return f"  {paint('✓', '1;32') if claim else paint('✗', '1;31')} {text}"

    disturbed, undisturbed = shown.disturbed, shown.undisturbed
    steps = disturbed.trained.steps
    killed = f"{len(shown.kills)} workers killed"
    yield line(disturbed.exit_code == 0, f"disturbed:   {_ended(disturbed, shown.disturbed_seconds)}, {killed}")
    yield line(undisturbed.exit_code == 0, f"undisturbed: {_ended(undisturbed, shown.undisturbed_seconds)}")
    yield line(shown.has_same_losses, f"losses of all {steps} steps {_same(is_same=shown.has_same_losses)}")
    yield line(shown.has_same_adapter, f"final adapter {_same(is_same=shown.has_same_adapter)}")
    if shown.missed:
        yield line(None, f"no worker could be killed at: {', '.join(shown.missed)}")
    for name, run in (("disturbed", disturbed), ("undisturbed", undisturbed)):
        if run.exit_code != 0:
            yield f"\n  The end of what the {name} run showed:"
            yield from (f"    {text}" for text in run.output.splitlines()[-12:])


def _ended(run: SupervisedRun, seconds: float) -> str:
    trained = run.trained
    checkpoints = len(trained.checkpoints)
    return f"exit code {run.exit_code}, step {trained.steps}, {checkpoints} checkpoints, {seconds:.0f} s"


def _same(*, is_same: bool) -> str:
    return "identical, bit for bit" if is_same else "DIFFER"

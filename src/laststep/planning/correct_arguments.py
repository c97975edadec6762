"""What is the command with accepted arguments in the place of those that are refused?"""

from collections.abc import Iterable
from dataclasses import replace

from laststep.records.arguments import ArgumentProblem
from laststep.records.command import Command


def correct_arguments(command: Command, problems: Iterable[ArgumentProblem]) -> Command:
    """Write what is accepted where it is known. What only looks alike is left to the user."""
    argv, environment = list(command.argv), dict(command.environment)
    # From the last to the first, so that the places of the others stay what they are.
    for problem in sorted(problems, key=lambda one: one.begin, reverse=True):
        if problem.instead is None or problem.is_guess:
            continue
        argv[problem.begin : problem.end] = _without_doubles(problem.instead, argv, problem)
        if problem.variable is not None:
            environment.setdefault(*problem.variable)
    return replace(command, argv=tuple(argv), environment=environment)


def _without_doubles(instead: tuple[str, ...], argv: list[str], problem: ArgumentProblem) -> tuple[str, ...]:
    """Leave out what the command says by its right name already: that one was meant to win."""
    others = argv[: problem.begin] + argv[problem.end :]
    is_there = instead and any(word.split("=", 1)[0] == instead[0] for word in others)
    return () if is_there and instead[0] != problem.typed else instead

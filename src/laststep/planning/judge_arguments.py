"""Which arguments of a command does the installed program refuse, and what is to be written instead?

They are read as argparse reads them: `--name value` or `--name=value`, a unique beginning of a name, as many values as
the argument takes (docs.python.org/3/library/argparse.html).
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence

from laststep.planning.renamed import REMOVED, SPELLINGS, VARIABLES, find_new_name
from laststep.records.arguments import AcceptedArguments, Argument, ArgumentFault, ArgumentProblem, ValueKind

_NEGATIVE_NUMBER = re.compile(r"-\d+$|-\d*\.\d+$|-\d+(?:\.\d*)?[eE][+-]?\d+$")
_BOOLEANS = frozenset(("yes", "true", "t", "y", "1", "no", "false", "f", "n", "0"))
_ALIKE = 0.84  # of difflib's ratio: `--learing_rate` is `--learning_rate`


def judge_arguments(
    argv: Sequence[str], accepted: AcceptedArguments, *, begin: int, ends_at_script: bool = False
) -> tuple[ArgumentProblem, ...]:
    """Judge the words from `begin` on; up to the first plain word where a script's own arguments follow."""
    return tuple(_judge(argv, accepted, begin, ends_at_script=ends_at_script))


def _judge(
    argv: Sequence[str], accepted: AcceptedArguments, begin: int, *, ends_at_script: bool
) -> Iterator[ArgumentProblem]:
    known = {name: argument for argument in accepted.arguments for name in argument.names}
    place = begin
    while place < len(argv):
        if not _is_option(argv[place]):
            if ends_at_script:
                return
            yield ArgumentProblem(
                fault=ArgumentFault.UNKNOWN, begin=place, end=place + 1, typed=argv[place], instead=None
            )
            place += 1
            continue
        typed, sign, attached = argv[place].partition("=")
        argument = _find(typed, known)
        end = place + 1 if sign else _find_end(argv, place + 1, argument)
        values = (attached,) if sign else tuple(argv[place + 1 : end])
        if argument is not None:
            yield from _judge_values(argument, typed, values, place, end)
        elif accepted.refuses_unknown:
            yield _replace(typed, values, known, place, end)
        place = end


def _is_option(word: str) -> bool:
    return word.startswith("-") and len(word) > 1 and " " not in word and not _NEGATIVE_NUMBER.match(word)


def _find(typed: str, known: Mapping[str, Argument]) -> Argument | None:
    if typed in known:
        return known[typed]
    found = {id(known[name]): known[name] for name in known if typed.startswith("--") and name.startswith(typed)}
    return next(iter(found.values())) if len(found) == 1 else None


def _find_end(argv: Sequence[str], begin: int, argument: Argument | None) -> int:
    """Find where the values of an argument end. Those of an unknown one are all words up to the next option."""
    most = argument.most if argument is not None else None
    end = begin
    while end < len(argv) and not _is_option(argv[end]) and (most is None or end - begin < most):
        end += 1
    return end


def _judge_values(
    argument: Argument, typed: str, values: tuple[str, ...], begin: int, end: int
) -> Iterator[ArgumentProblem]:
    wrong = [value for value in values if not _fits(argument, value)]
    if len(values) >= argument.least and not wrong:
        return
    corrected = tuple(_correct(argument, value) for value in values)
    instead = (typed, *(value for value in corrected if value is not None))
    yield ArgumentProblem(
        fault=ArgumentFault.WRONG_VALUE,
        begin=begin,
        end=end,
        typed=typed,
        values=values,
        accepted=" | ".join(argument.choices) or argument.kind.value,
        instead=instead if values and None not in corrected else None,
    )


def _fits(argument: Argument, value: str) -> bool:
    if argument.choices:
        return value in argument.choices
    try:
        if argument.kind is ValueKind.WHOLE:
            int(value)
        elif argument.kind is ValueKind.NUMBER:
            float(value)
    except ValueError:
        return False
    return argument.kind is not ValueKind.BOOLEAN or value.lower() in _BOOLEANS


def _correct(argument: Argument, value: str) -> str | None:
    if _fits(argument, value):
        return value
    spelled = SPELLINGS.get(value.lower())
    if spelled in argument.choices:
        return spelled
    lower = {choice.lower(): choice for choice in argument.choices}
    return lower.get(value.lower())


def _replace(
    typed: str, values: tuple[str, ...], known: Mapping[str, Argument], begin: int, end: int
) -> ArgumentProblem:
    """Say what is to be written instead of an argument that is refused."""
    plain = typed.lstrip("-").replace("-", "_")
    names = {name.lstrip("-").replace("-", "_"): name for name in reversed([*known]) if name.startswith("--")}
    fault, instead, variable, is_guess = ArgumentFault.UNKNOWN, None, None, False
    new = find_new_name(plain, values, names)
    alike = difflib.get_close_matches(plain, names, n=1, cutoff=_ALIKE)
    if new is not None:
        fault, instead = ArgumentFault.RENAMED, (f"--{new.name}", *_correct_all(known[names[new.name]], new.values))
    elif plain in VARIABLES and values:
        fault, variable, instead = ArgumentFault.RENAMED, (VARIABLES[plain], values[0]), ()
    elif plain in REMOVED:
        fault, instead = ArgumentFault.REMOVED, ()
    elif alike:
        instead, is_guess = (names[alike[0]], *values), True
    return ArgumentProblem(
        fault=fault, begin=begin, end=end, typed=typed, values=values, instead=instead, variable=variable,
        reason=REMOVED.get(plain) if fault is ArgumentFault.REMOVED else None,
        is_guess=is_guess,
    )  # fmt: skip


def _correct_all(argument: Argument, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_correct(argument, value) or value for value in values)

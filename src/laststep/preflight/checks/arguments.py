"""Does the installed version accept every argument of the command?"""

from collections.abc import Iterator

from laststep.host.machine import Machine
from laststep.preflight.checks.check import Check
from laststep.records.arguments import AcceptedArguments, ArgumentFault, ArgumentProblem
from laststep.records.finding import Finding, Severity
from laststep.records.plan import Plan
from laststep.records.text import Text

NAME = "arguments"
_PASSED = Text(en="the installed version accepts every argument", zh="已安装的版本接受所有参数")
_NOT_ASKED = Text(en="The arguments could not be compared with the installed version", zh="无法与已安装的版本核对参数")
_NONE = Text(en="`{typed}` is not an argument of {program}", zh="{program} 没有参数 `{typed}`")
_GONE = Text(en="`{typed}` is no longer an argument of {program}", zh="{program} 已不再有参数 `{typed}`")
_STRAY = Text(
    en="`{typed}` stands where {program} expects an argument", zh="`{typed}` 的位置上 {program} 需要一个参数名"
)
_WRONG = Text(en="`{typed} {values}` is refused by {program}", zh="{program} 不接受 `{typed} {values}`")
_ACCEPTS = Text(en="it takes {accepted}", zh="可用的值：{accepted}")
_WRITE = Text(en="Write `{words}`", zh="请改为 `{words}`")
_PERHAPS = Text(en="Perhaps `{words}` is meant", zh="是否想写 `{words}`")
_SET = Text(en="Set the variable before the command: {name}={value}", zh="请在命令前设置环境变量：{name}={value}")
_LEAVE_OUT = Text(en="Leave it out", zh="请去掉它")
_LOOK_UP = Text(en="See the program's own --help", zh="请查看该程序的 --help")


def look(plan: Plan, machine: Machine) -> Iterator[Finding]:
    """Report every argument that the program would end over, with what to write instead."""
    del machine  # the training's environment was asked
    for program in plan.programs:
        if program.accepted is None:
            yield Finding(check=NAME, severity=Severity.UNKNOWN, summary=_NOT_ASKED, detail=program.unanswered)
            continue
        for problem in program.problems:
            yield Finding(
                check=NAME,
                severity=Severity.BLOCKER,
                summary=_summarise(problem, program.accepted),
                detail=_detail(problem),
                fix=_advise(problem),
            )


def _summarise(problem: ArgumentProblem, accepted: AcceptedArguments) -> Text:
    program = f"{accepted.framework} {accepted.version}"
    if problem.fault is ArgumentFault.WRONG_VALUE:
        return _WRONG.fill(typed=problem.typed, values=" ".join(problem.values), program=program)
    if problem.fault is ArgumentFault.REMOVED:
        return _GONE.fill(typed=problem.typed, program=program)
    is_option = problem.typed.startswith("-")
    return (_NONE if is_option else _STRAY).fill(typed=problem.typed, program=program)


def _detail(problem: ArgumentProblem) -> Text | None:
    if problem.fault is ArgumentFault.WRONG_VALUE:
        return _ACCEPTS.fill(accepted=problem.accepted)
    return problem.reason


def _advise(problem: ArgumentProblem) -> Text:
    if problem.variable is not None:
        return _SET.fill(name=problem.variable[0], value=problem.variable[1])
    if problem.instead:
        return (_PERHAPS if problem.is_guess else _WRITE).fill(words=" ".join(problem.instead))
    return _LEAVE_OUT if problem.instead is not None else _LOOK_UP


CHECK = Check(NAME, _PASSED, look)

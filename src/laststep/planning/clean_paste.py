"""What did a chat, a web page or a terminal put around a command that is not part of it?

Code fences, shell prompts, a byte-order mark, Windows line ends. Line numbers stay those of the file.
"""

import re

from laststep.records.text import Text

_FENCE = re.compile(r"^\s*(```|~~~)[\w+-]*\s*$")
_PROMPT = re.compile(
    r"^\s*(\([\w.-]+\)\s*)*(\[?[\w.-]+@[\w.-]+[:\s][^\s$#%]*\]?)?[$%]\s+|^\s*(\([\w.-]+\)\s*)*\[?[\w.-]+@[\w.-]+[:\s][^\s$#%]*\]?#\s+"
)
_ROOT_PROMPT = re.compile(r"^\s*#\s+(?=[\w./]+\s|[A-Za-z_]\w*=)")
_CONTINUATION_PROMPT = re.compile(r"^\s*>\s+")

_LINE_ENDS = Text(en="Windows line ends or a byte-order mark", zh="Windows 换行符或 BOM 标记")
_CODE_FENCE = Text(en="the code fence", zh="代码块标记")
_SHELL_PROMPT = Text(en="the shell prompt", zh="shell 提示符")
_BACKQUOTES = Text(en="the backquotes around it", zh="首尾的反引号")


def clean_paste(text: str) -> tuple[str, list[Text]]:
    """Give the text without its wrapping, and what was taken off, for the user to be told."""
    taken: list[Text] = []
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if plain != text:
        taken.append(_LINE_ENDS)
    lines = plain.split("\n")
    unfenced = _without_fence(lines)
    if unfenced != lines:
        taken.append(_CODE_FENCE)
    unprompted = _without_prompts(unfenced)
    if unprompted != unfenced:
        taken.append(_SHELL_PROMPT)
    whole = "\n".join(unprompted)
    inline = whole.strip()
    if len(inline) > 2 and inline[0] == inline[-1] == "`" and inline.count("`") == 2:
        taken.append(_BACKQUOTES)
        whole = whole.replace("`", " ")
    return whole, taken


def _without_fence(lines: list[str]) -> list[str]:
    written = [index for index, line in enumerate(lines) if line.strip()]
    # Only around the text: three backquotes further in may be part of an argument.
    if not written or not _FENCE.match(lines[written[0]]):
        return lines
    around = {index for index in (written[0], written[-1]) if _FENCE.match(lines[index])}
    return ["" if index in around else line for index, line in enumerate(lines)]


def _without_prompts(lines: list[str]) -> list[str]:
    commands = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if commands and not _PROMPT.match(commands[0]):
        return lines
    return _strip_prompts(lines, has_command=bool(commands))


def _strip_prompts(lines: list[str], *, has_command: bool) -> list[str]:
    # `# swift sft …` is a comment, unless the text holds nothing else: then it is root's prompt.
    prompt = _PROMPT if has_command else _ROOT_PROMPT
    cleaned: list[str] = []
    seen_prompt = continued = False
    for line in lines:
        plain = line
        if prompt.match(line):
            seen_prompt, plain = True, prompt.sub("", line, count=1)
        elif seen_prompt and continued:
            plain = _CONTINUATION_PROMPT.sub("", line, count=1)
        continued = plain.rstrip().endswith("\\")
        cleaned.append(plain)
    return cleaned

"""Which parts of a command, an environment or a text are nobody else's business?

Two ways to a secret: its shape (`hf_…`, `AKIA…`, a private key), and the name in front of it (`--api_key X`,
`"password": "X"`, `DB_SECRET=X`). What is neither comes out unchanged, so that a report stays readable.
"""

import re
from collections.abc import Mapping, Sequence

from laststep.journal.secret_names import HINT, is_secret_name

REDACTED = "[redacted]"

_SHAPES = re.compile(
    r"""
    -----BEGIN[ A-Z0-9]*PRIVATE[ ]KEY-----(?:(?!-----)[\s\S]){0,16384}(?:-----END[ A-Z0-9]*PRIVATE[ ]KEY-----)?
    | (?<![A-Za-z0-9])(?:
        hf_[A-Za-z0-9]{20,} | api_org_[A-Za-z0-9]{20,}                       # Hugging Face
      | ms-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}                       # ModelScope
      | sk-(?:[A-Za-z]+-)*(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}             # OpenAI, Anthropic, DashScope
      | (?:AKIA|ASIA)[A-Z0-9]{16} | LTAI[A-Za-z0-9]{12,26} | AKID[A-Za-z0-9]{13,40}   # AWS, Alibaba, Tencent
      | gh[pousr]_[A-Za-z0-9]{30,} | github_pat_[A-Za-z0-9_]{22,} | glpat-[A-Za-z0-9_-]{20,}
      | xox[abeoprs]-[A-Za-z0-9-]{10,} | AIza[A-Za-z0-9_-]{35} | ya29\.[A-Za-z0-9_-]{20,}
      | npm_[A-Za-z0-9]{36} | pypi-[A-Za-z0-9_-]{16,} | nvapi-[A-Za-z0-9_-]{20,} | gsk_[A-Za-z0-9]{20,}
      | r8_[A-Za-z0-9]{30,} | dckr_pat_[A-Za-z0-9_-]{20,}
      | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}           # a JSON web token
      )
    """,
    re.VERBOSE,
)
_URL_LOGIN = re.compile(
    r"(?P<before>\b[a-z][a-z0-9+.-]{0,20}://)(?:[^\s/@:\"']*:[^\s/\"']*|[^\s/@:\"']{20,})@", re.IGNORECASE
)
_HEADER = re.compile(
    r"(?P<before>\b(?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic|token)\s+)?|\bbearer\s+(?=\S{16}))"
    r"[^\s\"']+",
    re.IGNORECASE,
)
# A value as a shell or a log writes it: quoted and bare parts that touch. Behind a quoted one a `,` or `)` ends it.
# A backslash escapes a quote in Python, not inside a shell's single quotes; the longer reading is the safe one.
_QUOTED = r"""(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|'[^'\n]*')"""
_VALUE = rf"""(?:{_QUOTED}(?:{_QUOTED}|\\.|[^\s"',;)\]}}&])*|[^\s"']+(?:{_QUOTED}[^\s"']*)*|\S+)"""
_NAME = rf"(?P<name>[\w.-]{{0,60}}?{HINT}[\w.-]{{0,30}})"
_JSON_FIELD = re.compile(
    rf"""(?P<before>(?P<quote>\\*["']){_NAME}(?P=quote)\s*[:=]\s*)"""
    r"""(?P<value>\\+"(?:(?!\\+").)*\\+"|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,}\]"']+)""",
    re.IGNORECASE,
)
_QUERY = re.compile(rf"(?P<before>[?&]{_NAME}=)(?P<value>[^\s&\"'#]+)", re.IGNORECASE)
_SIGNATURE = re.compile(
    r"(?P<before>[?&](?:x-amz-signature|signature|sig|x-amz-credential)=)[^\s&\"'#]+", re.IGNORECASE
)
_ASSIGNMENT = re.compile(
    rf"(?P<before>(?<![\w?&.]){_NAME}(?:==(?=\S)|\s?(?:=(?!=)|:(?!//))\s?))(?P<value>{_VALUE})", re.IGNORECASE
)
_FLAG = re.compile(rf"(?P<before>(?<!\S)--?{_NAME}\s+)(?P<value>(?!-){_VALUE})", re.IGNORECASE)
_LOGINS = re.compile(
    r"(?P<before>\bwandb\b[^\n]{0,60}?\b(?:login|api|key)\b[^\n]{0,60}?)\b[0-9a-f]{40}\b"
    r"|(?P<netrc>\blogin\s+\S+\s+password\s+)\S+"
    r"|(?P<curl>\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]?)[^\s:]+:\S+"
    r"|(?P<sshpass>\bsshpass\s+-p\s*)\S+",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"""["']?(?:true|false|none|null|yes|no|\[redacted\])["']?[,)}\]]*""", re.IGNORECASE)
_COUNT = re.compile(r"""["']?\d{1,7}["']?[,)}\]]*""")


def redact_text(text: str) -> str:
    """Replace every secret of a text, whatever it is: a log, a script, a JSON file."""
    text = _SHAPES.sub(REDACTED, text)
    text = _URL_LOGIN.sub(rf"\g<before>{REDACTED}@", text)
    text = _HEADER.sub(rf"\g<before>{REDACTED}", text)
    text = _SIGNATURE.sub(rf"\g<before>{REDACTED}", text)
    text = _LOGINS.sub(lambda found: f"{next(filter(None, found.groups()))}{REDACTED}", text)
    for pattern in (_JSON_FIELD, _QUERY, _ASSIGNMENT, _FLAG):
        text = pattern.sub(_hide_value, text)
    return text


def redact_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """Replace the secrets of a command, word by word; the number of words stays the same."""
    shown: list[str] = []
    before = ""
    for word in argv:
        name, sign, value = word.partition("=")
        if before.startswith("-") and "=" not in before and not word.startswith("--") and _is_secret(before, word):
            shown.append(REDACTED)
        elif sign and _is_secret(name, value):
            shown.append(f"{name}={REDACTED}")
        elif _LOGINS.search(f"{' '.join(argv[:3])} {word}") and word not in argv[:3]:
            shown.append(REDACTED)
        else:
            shown.append(redact_text(word))
        before = word
    return tuple(shown)


def redact_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Replace the secrets of an environment; the names stay."""
    return {name: REDACTED if _is_secret(name, value) else redact_text(value) for name, value in environment.items()}


def _hide_value(found: re.Match[str]) -> str:
    value = found["value"]
    if not _is_secret(found["name"], value):
        return found.group()
    # Keep the quotes, so that a JSON file stays one.
    quotes = re.match(r"""\\*["']""", value)
    quote = quotes.group() if quotes and value.endswith(quotes.group()) else ""
    return f"{found['before']}{quote}{REDACTED}{quote}"


def _is_secret(name: str, value: str) -> bool:
    bare = name.lstrip("-")
    if not value or not is_secret_name(bare) or _PLAIN.fullmatch(value):
        return False
    # A short number behind a token or a key counts something; a password may be one.
    return not (_COUNT.fullmatch(value) and bare.lower().endswith(("token", "key", "keys")))

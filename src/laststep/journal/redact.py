"""What must not be written down?"""

import re
from collections.abc import Mapping, Sequence

_SECRET_NAME = re.compile(r"(token|secret|passw|api_?key|access_?key|credential)", re.IGNORECASE)
_HIDDEN = "***"


def redact_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Hide the values of variables whose names speak of secrets."""
    return {name: _HIDDEN if _SECRET_NAME.search(name) else redact_text(value) for name, value in environment.items()}


def redact_argv(argv: Sequence[str]) -> list[str]:
    """Hide the values of options whose names speak of secrets."""
    hidden: list[str] = []
    hide_next = False
    for word in argv:
        name, equals, _ = word.partition("=")
        is_secret = name.startswith("-") and _SECRET_NAME.search(name) is not None
        if hide_next:
            hidden.append(_HIDDEN)
        else:
            hidden.append(f"{name}={_HIDDEN}" if is_secret and equals else redact_text(word))
        hide_next = is_secret and not equals and not hide_next
    return hidden


def redact_text(text: str) -> str:
    """Hide what looks like a token of a well-known service."""
    return re.sub(r"\b(hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9-]{16,})", _HIDDEN, text)

"""In which words does a user read it?"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


class Language(enum.Enum):
    """A language that every text has."""

    ENGLISH = "en"
    CHINESE = "zh"


@dataclass(frozen=True, slots=True)
class Text:
    """The same words in every language, side by side."""

    en: str
    zh: str

    def fill(self, **values: object) -> "Text":
        """Put values into the places; a value that is a Text itself is put in language by language."""
        return Text(
            en=self.en.format(**_spoken(values, Language.ENGLISH)),
            zh=self.zh.format(**_spoken(values, Language.CHINESE)),
        )

    def say(self, language: Language) -> str:
        return self.zh if language is Language.CHINESE else self.en


def join_texts(texts: Iterable[Text], between: str = "\n") -> Text:
    """Put texts one after the other; below one another, if nothing else is to stand between."""
    parts = tuple(texts)
    return Text(en=between.join(part.en for part in parts), zh=between.join(part.zh for part in parts))


def choose_language(asked_for: str | None, environment: Mapping[str, str]) -> Language:
    """Take the language that was asked for, else that of the locale, else English."""
    if asked_for:
        return Language(asked_for)
    # As in POSIX: the first of these that is set and not empty decides.
    locale = next((environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "")
    return Language.CHINESE if locale.lower().startswith("zh") else Language.ENGLISH


def _spoken(values: Mapping[str, object], language: Language) -> dict[str, object]:
    return {name: value.say(language) if isinstance(value, Text) else value for name, value in values.items()}

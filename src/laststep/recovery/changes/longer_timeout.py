"""What if ranks wait longer for one of them than collectives may take?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change

_SECONDS = 7200


def apply(settings: Settings) -> Settings | None:
    seconds = settings.read_number(Setting.TIMEOUT_SECONDS)
    return (
        None if seconds is not None and seconds >= _SECONDS else settings.put({Setting.TIMEOUT_SECONDS: str(_SECONDS)})
    )


CHANGE = Change(name="longer_timeout", remedy_class="identical", apply=apply)

"""What if somebody else has the rendezvous port?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change

_DEFAULT = 29500  # of torchrun and of torch.distributed
_FURTHER = 117  # away from those that launchers count up to
_END = 32768  # ports from here on are handed out by Linux


def apply(settings: Settings) -> Settings | None:
    port = settings.read_number(Setting.PORT) or _DEFAULT
    return settings.put({Setting.PORT: str(port + _FURTHER if port + _FURTHER < _END else port - _FURTHER)})


CHANGE = Change(name="free_port", remedy_class="identical", apply=apply)

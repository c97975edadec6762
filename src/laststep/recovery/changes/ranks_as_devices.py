"""What if more ranks are started than there are GPUs to be seen?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    devices = settings.environment.get("CUDA_VISIBLE_DEVICES", "")
    number = len([device for device in devices.split(",") if device.strip()])
    return settings.put({Setting.RANKS: str(number)}) if number else None


CHANGE = Change(name="ranks_as_devices", remedy_class="identical", apply=apply)

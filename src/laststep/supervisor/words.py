"""How are numbers and signals written for people?"""

import signal


def format_bytes(count: object) -> str:
    """Write a number of bytes with one decimal in the unit that fits; ? when it is not known."""
    if not isinstance(count, int | float):
        return "?"
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def format_duration(seconds: float) -> str:
    """Write a duration as h, min and s."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


def name_signal(number: int) -> str:
    """Name a signal, as SIGKILL; by number when it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

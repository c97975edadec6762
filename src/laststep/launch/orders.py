"""What is the holder told to do?"""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """Everything the holder needs. Paths are None where nothing can be written."""

    run_id: str
    program: str  # the file to execute
    argv: tuple[str, ...]
    environment: dict[str, str]
    cwd: str
    ignored_signals: tuple[int, ...] = ()  # those that the user's shell had switched off, as nohup does
    terminal_fds: tuple[int, ...] = ()  # which of 0, 1, 2 become one pseudo-terminal
    shares_output: bool = False  # stdout and stderr were the same file, so their order matters
    rows: int = 24
    columns: int = 80
    grace_seconds: float = 30.0
    log_path: str | None = None
    copy_path: str | None = None  # where the text of the command redirects its output to
    copy_appends: bool = False
    socket_path: str | None = None
    beats_dir: str | None = None
    events_dir: str | None = None
    requests_dir: str | None = None
    ending_path: str | None = None
    holder_path: str | None = None
    temporary_folder: str | None = None  # removed by the holder, the last one to leave


def write_orders(orders: Orders) -> bytes:
    return json.dumps(asdict(orders)).encode()


def read_orders(text: bytes) -> Orders:
    values = json.loads(text)
    for name in ("argv", "ignored_signals", "terminal_fds"):
        values[name] = tuple(values[name])
    return Orders(**values)

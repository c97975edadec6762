"""A message of the software's own, alone in a log, is named: signals are written for formats, not for one example."""

from pathlib import Path

import msgspec
import pytest

from laststep.diagnosis.diagnose import diagnose
from laststep.diagnosis.read_log import open_text

MESSAGES = msgspec.toml.decode(Path(__file__).with_name("messages.toml").read_bytes())["message"]


def name(message):
    return f"{message['cause']}-{message['origin']}"


@pytest.mark.parametrize("message", MESSAGES, ids=name)
def test_a_message_is_named(message):
    seen = diagnose(open_text(message["text"]), source="a log", command=message.get("command", ""))

    assert seen.verdict.cause in (message["cause"], *message.get("also_accept", ())), seen.alternatives

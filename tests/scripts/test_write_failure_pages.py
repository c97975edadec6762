"""The documentation's pages of causes say what the causes' files say."""

import re
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGES = PROJECT / "docs" / "failures"


def test_the_pages_are_as_the_causes_say():
    script = [sys.executable, PROJECT / "scripts" / "write_failure_pages", "--check"]
    checked = subprocess.run(script, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, f"{checked.stdout}{checked.stderr}write them: scripts/write_failure_pages"


def test_every_link_between_pages_leads_somewhere():
    for page in PAGES.glob("*.md"):
        for name, anchor in re.findall(r"\]\(([\w.-]+\.md)(?:#([\w-]+))?\)", page.read_text(encoding="utf-8")):
            target = (PAGES / name).read_text(encoding="utf-8")
            headings = {line.removeprefix("## ").replace(".", "") for line in target.splitlines() if line[:3] == "## "}
            assert not anchor or anchor in headings, (page.name, name, anchor)

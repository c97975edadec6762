"""Which commands does `laststep checkpoints` have?"""

import typer

from laststep.cli.change_checkpoints import prune, seal
from laststep.cli.look_at_checkpoints import ls, verify

_LS = """\b
Examples:
  laststep checkpoints ls output
  laststep checkpoints ls output --json
"""
_VERIFY = """\b
Examples:
  laststep checkpoints verify output/v0-20260101-120000/checkpoint-500
  laststep checkpoints verify output --deep
"""
_SEAL = """\b
Examples:
  laststep checkpoints seal output/v0-20260101-120000/checkpoint-500
"""
_PRUNE = """\b
Examples:
  laststep checkpoints prune output --keep 3
  laststep checkpoints prune output --keep 3 --yes
"""

app = typer.Typer(help="List, verify, seal and prune checkpoints.", no_args_is_help=True, rich_markup_mode=None)
app.command(epilog=_LS)(ls)
app.command(epilog=_VERIFY)(verify)
app.command(epilog=_SEAL)(seal)
app.command(epilog=_PRUNE)(prune)

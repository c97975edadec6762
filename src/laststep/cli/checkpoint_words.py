"""Which examples does the help of `laststep checkpoints` show?"""

LS_EXAMPLES = """\b
Examples:
  laststep checkpoints ls output
  laststep checkpoints ls output --json
"""
VERIFY_EXAMPLES = """\b
Examples:
  laststep checkpoints verify output/v0-20260101-120000/checkpoint-500
  laststep checkpoints verify output --deep
"""
SEAL_EXAMPLES = """\b
Examples:
  laststep checkpoints seal output/v0-20260101-120000/checkpoint-500
"""
PRUNE_EXAMPLES = """\b
Examples:
  laststep checkpoints prune output --keep 3
  laststep checkpoints prune output --keep 3 --yes
"""

"""Which launchers does laststep speak with?"""

from laststep.planning.dialects import axolotl, llamafactory, plain, swift, transformers
from laststep.planning.dialects.dialect import Dialect

DIALECTS: tuple[Dialect, ...] = (
    swift.DIALECT,
    llamafactory.DIALECT,
    axolotl.DIALECT,
    transformers.DIALECT,
    plain.DIALECT,
)

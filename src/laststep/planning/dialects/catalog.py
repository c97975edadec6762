"""Which launchers does laststep speak with?"""

from laststep.planning.dialects import axolotl, llamafactory, plain, swift
from laststep.planning.dialects.dialect import Dialect

DIALECTS: tuple[Dialect, ...] = (swift.DIALECT, llamafactory.DIALECT, axolotl.DIALECT, plain.DIALECT)

"""Which known defects of frameworks can be fixed from inside?"""

from typing import Tuple

from laststep_guard.fixes.fix import Fix

FIXES: Tuple[Fix, ...] = ()

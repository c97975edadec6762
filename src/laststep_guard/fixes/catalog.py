"""Which known defects of frameworks can be fixed from inside?"""

from typing import Tuple

from laststep_guard.fixes import (
    swift_misaligned_documents,
    swift_repeated_documents,
    swift_summed_accumulation,
    torch_cpu_index,
)
from laststep_guard.fixes.fix import Fix

FIXES: Tuple[Fix, ...] = (
    swift_repeated_documents.FIX,
    swift_misaligned_documents.FIX,
    swift_summed_accumulation.FIX,
    torch_cpu_index.FIX,
)

"""The fixes in every Python of a command, as the guard has them: those named in TRY_FIXES, after the imports."""

import os
import sys

from laststep_guard.emit import Emitter
from laststep_guard.fixes import catalog, swift_repeated_documents
from laststep_guard.guardian import Guardian
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield

# A loader worker with an interpreter of its own imports the template, and never the trainer.
STARTED_AFRESH = "--multiprocessing-fork" in sys.orig_argv


def main() -> None:
    emitter = Emitter(os.environ["TRY_EVENTS"], None)
    guardian = Guardian(Settings("test"), emitter, Shield(emitter.emit), None)

    def after(module_name, apply):
        def waiting(module):
            with guardian.shield.over(module_name):
                guardian.emit("applied", what=apply(module, guardian))

        guardian.imports.after(module_name, waiting)

    if STARTED_AFRESH:
        after("swift.template.base", swift_repeated_documents.apply_in_worker)
        return
    for fix in catalog.FIXES:
        if fix.name in os.environ["TRY_FIXES"].split(","):
            after(fix.after_import, fix.apply)


main()

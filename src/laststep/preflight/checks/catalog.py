"""Every check; a new one is one file, its test, and one line here."""

from laststep.preflight.checks import arguments, open_files, output_folder, port, resumable, shared_memory

CHECKS = (arguments.CHECK, output_folder.CHECK, shared_memory.CHECK, open_files.CHECK, port.CHECK, resumable.CHECK)

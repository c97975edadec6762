"""Runs laststep as on a machine that is no Unix: without its modules, its signals and its calls.

python elsewhere.py diagnose LOG
"""

import asyncio  # these know of other machines, and find out where they are while they are imported
import gzip
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile

import msgspec
import platformdirs.unix
import psutil
import rich.console
import typer

THEIRS = (asyncio, gzip, shutil, subprocess, tarfile, tempfile, msgspec, platformdirs, psutil, rich.console, typer)
MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty")
CALLS = (
    "fork", "forkpty", "getuid", "geteuid", "getgid", "getpgid", "killpg", "setsid", "statvfs", "sysconf", "waitid",
    "openpty", "mkfifo", "getpriority", "setpriority", "sched_getaffinity", "sched_setaffinity", "O_NONBLOCK",
    "WNOHANG", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "posix_fadvise", "posix_fallocate", "pread", "pwrite",
)  # fmt: skip
SIGNALS = (
    "SIGKILL", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGWINCH",
    "SIGBUS", "SIGPIPE", "SIGCONT", "SIGSTOP", "SIGALRM", "pthread_sigmask", "sigwait",
)  # fmt: skip

for module in MODULES:
    sys.modules[module] = None
for place, names in ((os, CALLS), (signal, SIGNALS)):
    for name in names:
        if hasattr(place, name):
            delattr(place, name)

from laststep.cli.main import main  # noqa: E402  # only now

sys.argv[0] = "laststep"
sys.exit(main())

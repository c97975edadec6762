"""Which modules are hooked once the host has imported them?"""

from types import ModuleType
from typing import Callable, Tuple

from laststep_guard.frameworks.accelerate import hook_backward
from laststep_guard.frameworks.launcher import record_children, shorten_farewell
from laststep_guard.frameworks.swift import name_rows
from laststep_guard.frameworks.swift_resume import add_resume_flags
from laststep_guard.frameworks.torch_hooks import hook_loader
from laststep_guard.frameworks.torch_saves import hook_deepspeed_files, hook_deepspeed_folders, hook_save
from laststep_guard.frameworks.torch_signals import shield_saves
from laststep_guard.frameworks.transformers import hook_callbacks, hook_trainer
from laststep_guard.frameworks.transformers_requests import hook_stop
from laststep_guard.frameworks.transformers_resume import hook_resume
from laststep_guard.frameworks.transformers_retention import hook_retention
from laststep_guard.frameworks.transformers_save_requests import hook_requests
from laststep_guard.frameworks.transformers_saves import hook_saves
from laststep_guard.frameworks.transformers_states import hook_states
from laststep_guard.frameworks.transformers_steps import hook_steps
from laststep_guard.guardian import Guardian

HOOKS: Tuple[Tuple[str, Callable[[ModuleType, Guardian], None]], ...] = (
    ("subprocess", record_children),
    ("torch.distributed.elastic.multiprocessing.api", shorten_farewell),
    ("torch.utils.data._utils.signal_handling", shield_saves),
    ("torch.utils.data.dataloader", hook_loader),
    ("torch.serialization", hook_save),
    ("transformers.trainer_callback", hook_callbacks),
    ("transformers.trainer_callback", hook_steps),
    ("transformers.trainer_callback", hook_requests),
    # Of two hooks on one method the later one stands around the earlier: a save is over before it is told of.
    ("transformers.trainer", hook_saves),
    ("transformers.trainer", hook_retention),
    ("transformers.trainer", hook_trainer),
    ("transformers.trainer", hook_states),
    ("transformers.trainer", hook_resume),
    ("transformers.trainer", hook_stop),
    ("accelerate.accelerator", hook_backward),
    ("deepspeed.runtime.checkpoint_engine.checkpoint_engine", hook_deepspeed_folders),
    ("deepspeed.runtime.engine", hook_deepspeed_files),
    ("swift", add_resume_flags),
    ("swift.trainers.mixin", name_rows),
)

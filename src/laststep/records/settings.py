"""Which knobs does a training have, whatever its launcher calls them?"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace


class Setting(enum.Enum):
    """A neutral name of a knob. A dialect says how it is spelled."""

    ACCUMULATION = "gradient accumulation"
    ADAPTERS = "adapters"
    ATTENTION = "attention"
    BEST_METRIC = "metric of the best model"
    BFLOAT16 = "bfloat16"
    CHECKPOINTING = "gradient checkpointing"
    CHECKPOINTING_OPTIONS = "options of gradient checkpointing"
    CHECKPOINTS_KEPT = "checkpoints kept"
    DATASET_WORKERS = "processes that prepare the data set"
    DROP_LAST = "drop the last batch"
    EVAL_MICRO_BATCH = "micro-batch of the evaluation"
    FLOAT16 = "float16"
    IS_GREATER_BETTER = "greater is better"
    LEARNING_RATE = "learning rate"
    LOADER_WORKERS = "loader workers"
    LOSS_ONLY = "evaluate the loss alone"
    MAX_LENGTH = "longest row in tokens"
    MAX_STEPS = "steps"
    MICRO_BATCH = "micro-batch"
    MODEL_ONLY = "save the model alone"
    PIN_MEMORY = "pinned memory"
    PORT = "rendezvous port"
    PREFETCH = "batches prefetched by a worker"
    RANKS = "ranks"
    RESUME_FROM = "resume from"
    SAVE_ON_EACH_NODE = "save on each node"
    SAVE_STEPS = "steps between saves"
    SAVE_STRATEGY = "when to save"
    TIMEOUT_SECONDS = "timeout of collectives"
    TRUNCATION = "what becomes of rows that are too long"
    UNUSED_PARAMETERS = "look for unused parameters"
    WEIGHT_TYPE = "type of the weights"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a command sets: values as they are spelled, variables of the environment, whether laststep runs it."""

    values: Mapping[Setting, str | None] = field(default_factory=dict)  # None: to be left out
    environment: Mapping[str, str] = field(default_factory=dict)
    known: frozenset[Setting] = frozenset()  # those that the launcher can be told
    is_supervised: bool = False

    def read_number(self, setting: Setting) -> int | None:
        """Read a whole number; None where it is not given or is none."""
        value = self.values.get(setting)
        return int(value) if value is not None and value.isdecimal() else None

    def read_word(self, setting: Setting) -> str | None:
        """Read a word in small letters; None where it is not given."""
        value = self.values.get(setting)
        return value.lower() if value is not None else None

    def is_on(self, setting: Setting) -> bool:
        """Say whether a knob is given as true."""
        return self.read_word(setting) in ("true", "1", "yes", "t", "y")

    def put(self, changed: Mapping[Setting, str | None]) -> "Settings | None":
        """Set values. None where the launcher knows no such knob, or where nothing would be changed."""
        if not self.known.issuperset(changed):
            return None
        told = {name: value.lower() if value else value for name, value in self.values.items()}
        if all(told.get(name) == (value.lower() if value else value) for name, value in changed.items()):
            return None
        return replace(self, values={**self.values, **changed})

    def put_variables(self, changed: Mapping[str, str]) -> "Settings | None":
        """Set variables. None where nothing would be changed."""
        if all(self.environment.get(name) == value for name, value in changed.items()):
            return None
        return replace(self, environment={**self.environment, **changed})

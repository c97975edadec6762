"""Gets a training run to its last step."""

__version__ = "0.1.0"

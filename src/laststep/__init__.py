"""Gets a training run to its last step."""

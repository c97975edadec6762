"""From a log to the root cause."""

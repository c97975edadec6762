"""What was asked for, read from what was typed."""

"""What laststep can change about a command, one named change a file."""

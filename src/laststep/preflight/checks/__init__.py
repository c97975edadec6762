"""The checks, one question a file."""

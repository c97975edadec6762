"""What will break, asked before the launch."""

"""The knowledge base: one file a cause, in a folder a family."""

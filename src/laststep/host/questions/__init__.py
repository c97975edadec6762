"""Programs for the training's own Python: each answers one question with one JSON object. Standard library only."""

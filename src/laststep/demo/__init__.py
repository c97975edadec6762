"""The reported training in small: its model, its data, its command, and a demonstration on them."""

"""The door to mail: the unfiltered account, which nobody outside imports, and the view that callers get."""

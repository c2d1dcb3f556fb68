"""Hostile messages by the million: `python -m fuzz`; see `fuzz/README.md`."""

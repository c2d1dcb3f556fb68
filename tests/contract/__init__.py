"""Walks over the catalogue: what holds for every operation, those to come included."""

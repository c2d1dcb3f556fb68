"""Noninterference: what a bound caller may not see changes no byte of what it is told."""

"""Pure decisions: what of a fetched message a caller may be shown."""

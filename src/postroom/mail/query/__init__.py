"""What a search means: a tree, its spellings, and whether a message fits it."""

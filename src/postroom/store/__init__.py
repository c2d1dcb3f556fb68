"""What must survive a restart: issued tokens, sealing keys, in one SQLite file with one writer."""

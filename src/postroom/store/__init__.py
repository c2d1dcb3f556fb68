"""What must survive a restart, in a SQLite file or a PostgreSQL database, with one writer at a time."""

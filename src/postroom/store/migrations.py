"""How the database came to its present shape: steps in order, never edited once released, only added to."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE tokens (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            hash TEXT NOT NULL UNIQUE,
            scopes TEXT NOT NULL,
            mailboxes TEXT NOT NULL,
            created TEXT NOT NULL,
            expires TEXT,
            revoked TEXT,
            last_used_day TEXT
        ) STRICT
        """,
        "CREATE INDEX tokens_by_name ON tokens (name)",
        """
        CREATE TABLE sealing_keys (
            kid INTEGER PRIMARY KEY,
            master BLOB NOT NULL,
            created TEXT NOT NULL,
            open_until TEXT
        ) STRICT
        """,
    ),
    (
        """
        CREATE TABLE spending (
            token TEXT NOT NULL,
            kind TEXT NOT NULL,
            at TEXT NOT NULL,
            count INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX spending_by_token ON spending (token, kind, at)",
    ),
    (
        "CREATE TABLE audit (seq INTEGER PRIMARY KEY, line TEXT NOT NULL) STRICT",
        "CREATE TABLE audit_open (request TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE TABLE audit_key (number INTEGER NOT NULL, day TEXT NOT NULL, secret BLOB NOT NULL) STRICT",
        "CREATE TABLE stop_switch (what TEXT NOT NULL, since TEXT NOT NULL) STRICT",
    ),
    (
        """
        CREATE TABLE sends (
            request TEXT PRIMARY KEY,
            token TEXT NOT NULL,
            key TEXT,
            fingerprint TEXT NOT NULL,
            mailbox TEXT NOT NULL,
            message_id TEXT NOT NULL,
            draft TEXT,
            state TEXT NOT NULL,
            answer TEXT NOT NULL,
            at TEXT NOT NULL,
            until TEXT NOT NULL
        ) STRICT
        """,
        "CREATE UNIQUE INDEX sends_by_key ON sends (token, key) WHERE key IS NOT NULL",
        "CREATE INDEX sends_by_draft ON sends (mailbox, draft) WHERE draft IS NOT NULL",
        "CREATE INDEX sends_by_end ON sends (until)",
    ),
    (
        "ALTER TABLE tokens ADD COLUMN toolset TEXT NOT NULL DEFAULT 'mailbox'",
        'ALTER TABLE tokens ADD COLUMN "user" TEXT',
        "ALTER TABLE tokens ADD COLUMN profile TEXT",
        """
        CREATE TABLE own_messages (
            identity TEXT NOT NULL,
            mailbox TEXT NOT NULL,
            message_id TEXT NOT NULL,
            at TEXT NOT NULL,
            recipients TEXT NOT NULL,
            new_recipients INTEGER NOT NULL,
            octets INTEGER NOT NULL,
            thread TEXT NOT NULL,
            held INTEGER NOT NULL,
            PRIMARY KEY (identity, mailbox, message_id)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX own_messages_by_time ON own_messages (identity, mailbox, at)",
        """
        CREATE TABLE own_drafts (
            identity TEXT NOT NULL,
            mailbox TEXT NOT NULL,
            message_id TEXT NOT NULL,
            sha256 TEXT NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY (identity, mailbox, message_id)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE untrusted_reads (
            identity TEXT NOT NULL,
            mailbox TEXT NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY (identity, mailbox)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE own_trash (
            identity TEXT NOT NULL,
            mailbox TEXT NOT NULL,
            uid_validity INTEGER NOT NULL,
            uid INTEGER NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY (identity, mailbox, uid_validity, uid)
        ) STRICT, WITHOUT ROWID
        """,
    ),
    (
        "CREATE TABLE gateways (id TEXT PRIMARY KEY, until TEXT NOT NULL) STRICT",
        """
        CREATE TABLE leases (
            mailbox TEXT PRIMARY KEY,
            owner TEXT NOT NULL,
            until TEXT NOT NULL,
            epoch INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE marks (
            mailbox TEXT NOT NULL,
            folder TEXT NOT NULL,
            uid_validity INTEGER NOT NULL,
            uid INTEGER NOT NULL,
            PRIMARY KEY (mailbox, folder)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE TABLE unreachable (mailbox TEXT PRIMARY KEY, since TEXT NOT NULL) STRICT",
        """
        CREATE TABLE told (
            mailbox TEXT NOT NULL,
            endpoint TEXT NOT NULL,
            folder TEXT NOT NULL,
            uid_validity INTEGER NOT NULL,
            uid INTEGER NOT NULL,
            flags TEXT NOT NULL,
            policy TEXT NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY (mailbox, endpoint, folder, uid_validity, uid)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE deliveries (
            id TEXT PRIMARY KEY,
            mailbox TEXT NOT NULL,
            endpoint TEXT NOT NULL,
            type TEXT NOT NULL,
            body TEXT NOT NULL,
            folder TEXT,
            uid_validity INTEGER,
            uid INTEGER,
            state TEXT NOT NULL,
            created TEXT NOT NULL,
            next_at TEXT NOT NULL,
            tries INTEGER NOT NULL,
            owner TEXT,
            status INTEGER,
            said TEXT,
            ended TEXT
        ) STRICT
        """,
        "CREATE INDEX deliveries_by_time ON deliveries (mailbox, endpoint, ended, next_at)",
        "CREATE INDEX deliveries_by_age ON deliveries (mailbox, endpoint, ended, created)",
        "CREATE INDEX deliveries_by_mailbox ON deliveries (mailbox, created)",
        "CREATE INDEX deliveries_by_end ON deliveries (ended)",
        """
        CREATE TABLE endpoints (
            mailbox TEXT NOT NULL,
            name TEXT NOT NULL,
            settings TEXT NOT NULL,
            gaps INTEGER NOT NULL,
            failing_since TEXT,
            disabled TEXT,
            PRIMARY KEY (mailbox, name)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE own_counts (
            identity TEXT NOT NULL,
            mailbox TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (identity, mailbox)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE TABLE call_rates (token TEXT PRIMARY KEY, full_at INTEGER NOT NULL) STRICT",
        "ALTER TABLE sends ADD COLUMN gateway TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE sends ADD COLUMN identity TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE audit_open ADD COLUMN gateway TEXT NOT NULL DEFAULT ''",
    ),
)
"""Step n brings a database of schema n to n + 1; each step is a tuple of single statements."""

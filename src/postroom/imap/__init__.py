"""The IMAP client (RFC 3501, RFC 9051): pure wire, one connection, a pool. It knows nothing of policy or answers."""

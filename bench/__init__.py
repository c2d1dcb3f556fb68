"""Postroom measured against a floor: raw IMAP over sockets that stay open, exactly the commands a job needs.

corpus        the mail: the same messages from the same seed, and where in them each job finds its own
servers       a Dovecot and gateways of the bench's own, on loopback, each in its own process
uncached      a gateway that remembers nothing, to see what the caches are worth
floor         what cannot be beaten: commands sent and octets read, nothing parsed
clients       HTTP and MCP at as little cost to the caller as Python allows
jobs          what is measured, and how far from the floor it may be
rounds        floor and product by turns, in a shuffled order
memory        what downloads cost the gateway in memory
report        the table, and docs/performance.md
"""

"""Real servers for the tests, started and stopped by them, on loopback only."""

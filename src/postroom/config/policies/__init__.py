"""What a policy declares: its sections, the profiles that use it, its tests, and what must hold between them."""

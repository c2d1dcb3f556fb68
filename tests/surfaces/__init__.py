"""The surfaces as a function and as a wire."""

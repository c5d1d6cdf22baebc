"""Rewrites functions: each test that is converted becomes calls of what is in ``selecting``."""

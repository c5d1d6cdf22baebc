"""Traces one call of a function: stand-ins for its numbers, and what they record."""

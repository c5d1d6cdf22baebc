"""Dictionaries and sets of which decisions choose the keys that they have."""

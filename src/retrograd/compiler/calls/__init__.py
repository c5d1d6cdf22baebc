"""Calls: how arguments are described, which program answers, and what comes back."""

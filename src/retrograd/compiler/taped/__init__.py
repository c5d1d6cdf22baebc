"""Taped code: machine code that keeps the branches and loops of a function, and records a tape as it runs."""

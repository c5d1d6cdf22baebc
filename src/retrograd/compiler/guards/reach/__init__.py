"""The search for what a function can reach beside its arguments."""

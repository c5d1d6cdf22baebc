"""How long a test waits for what must come."""

#: Seconds: far more than anything takes on a busy machine, so that only what hangs meets it. It is no figure.
PATIENCE = 120.0

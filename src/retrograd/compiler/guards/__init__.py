"""Guards on the Python state that a compiled function reads besides its arguments."""

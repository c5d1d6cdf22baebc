"""What stands in a trace for things that decisions choose."""

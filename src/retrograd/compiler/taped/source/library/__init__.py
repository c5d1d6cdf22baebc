"""What Python and its libraries bring: their functions, written as code or followed as Python."""

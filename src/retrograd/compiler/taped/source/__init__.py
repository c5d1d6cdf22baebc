"""Python's statements, expressions and calls, each written as instructions with the types of what it computes."""

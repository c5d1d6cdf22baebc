"""The scalar graph of a program, read from the native side, and written in fewer nodes."""

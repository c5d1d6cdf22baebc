"""What the operands of each position are, and which positions share a place in memory."""

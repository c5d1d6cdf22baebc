"""Which nodes become loops: where a graph repeats itself, and which of several shapes takes the least time."""

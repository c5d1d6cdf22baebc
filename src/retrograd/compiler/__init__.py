"""The compiler: from a scalar program, traced once, to a short list of vector instructions."""

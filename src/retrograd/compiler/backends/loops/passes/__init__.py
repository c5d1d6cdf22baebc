"""The forward and the backward pass of a graph in an SSA form, and where in memory their numbers are."""

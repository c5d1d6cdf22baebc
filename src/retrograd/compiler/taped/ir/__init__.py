"""LLVM IR: how instructions are written, and what they compute with: numbers with derivatives, a tape, lists."""

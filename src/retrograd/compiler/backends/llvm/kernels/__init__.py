"""The LLVM IR of one kernel call, a module for each kind of kernel. They know the IR builder and one call at a time."""

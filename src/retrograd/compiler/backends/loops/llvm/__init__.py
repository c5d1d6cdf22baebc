"""The SSA form as LLVM IR: loops in lanes, calls side by side, long functions in parts."""

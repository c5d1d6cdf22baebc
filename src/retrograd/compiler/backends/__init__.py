"""What programs become besides the virtual machine's kernels: machine code by LLVM, and JAX functions."""

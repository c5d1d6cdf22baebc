"""The LLVM tier: machine code for exactly one program, in place of its calls of prebuilt kernels.

``generate`` writes the code of a program's bound calls as LLVM IR, with tiles and vectors of its own; ``machine_code``
has llvmlite compile it; ``tier`` installs it, at once or from a thread in the background.
"""

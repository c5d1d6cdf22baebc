"""The LLVM tier: compiles one bound program to machine code that replaces its calls of prebuilt kernels.

It knows the struct ``Call`` of native/compiler/kernels/kernels.hpp and what the native cache exports of a program's
memory; it knows neither traces nor graphs. In the order in which data passes:

``pipeline``      one program from its kernel calls to installed machine code
``kernel_calls``  decodes the bytes of the kernel calls
``fusion/``       loop fusion: kernel calls that run through the same loops become one loop nest
``repetition``    finds sequences of calls that repeat themselves at other addresses
``codegen``       writes a pass as one LLVM function, call by call or nest by nest, and each repetition as another
``kernels/``      the IR of one kernel call, by kind of kernel
``loops``, ``vectors``, ``ir_builder``   what they are written with
``jit``           has llvmlite compile a module
"""

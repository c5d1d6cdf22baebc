// The vector kernels for x86-64 with AVX2; CMakeLists.txt gives the flags.
#define RG_SET avx2
#define RG_BYTES 32
#define RG_SET_NAME "avx2"
#include "compiler/kernels/kernel_set.inc"

// The vector kernels for x86-64 with AVX512; CMakeLists.txt gives the flags.
#define RG_SET avx512
#define RG_BYTES 64
#define RG_SET_NAME "avx512"
#include "compiler/kernels/kernel_set.inc"

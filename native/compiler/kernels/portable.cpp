// The vector kernels for any processor; CMakeLists.txt gives the flags.
#define RG_SET portable
#define RG_BYTES 16
#define RG_SET_NAME "portable"
#include "compiler/kernels/kernel_set.inc"

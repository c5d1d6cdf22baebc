/* An allocator that fails when it is told to, put before the C library's: LD_PRELOAD=faults.so. With PYTHONMALLOC=malloc
   every allocation of Python and of C++ comes through here. */
#include <errno.h>
#include <stddef.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static long countdown; /* the allocation that brings it to zero fails; not above zero, none does */
static long fired;

/* Let the n-th allocation from now on fail, and only that one; 0: none. Returns how many have failed since the last call. */
long faults_arm(long n) {
  long before = fired;
  fired = 0;
  countdown = n;
  return before;
}

static int fails(void) {
  if (countdown <= 0 || --countdown > 0) return 0;
  ++fired;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
void* memalign(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** result, size_t alignment, size_t size) {
  *result = memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}

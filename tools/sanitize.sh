#!/bin/sh
# Build the native core with AddressSanitizer and UBSan and run the tests that drive it, or all of them, and look for
# leaks: tools/sanitize.sh PYTHON [all]
set -eu
cd "$(dirname "$0")/.."
bin=$(cd "$(dirname "$1")" && pwd)
python=$bin/$(basename "$1")
build=build/sanitize
# -O1 -g1 compile in two fifths of the time of -O2 -g.
"$python" -m pip install --quiet cmake ninja
"$bin/cmake" -S . -B "$build" -G Ninja -DCMAKE_MAKE_PROGRAM="$bin/ninja" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" -DRETROGRAD_SANITIZE=address,undefined -DRETROGRAD_WERROR=ON -DPython_EXECUTABLE="$python" >/dev/null
"$bin/cmake" --build "$build"
package="$build/package/retrograd"
rm -rf "$package"
mkdir -p "$build/package"
cp -r src/retrograd "$package"
cp "$build"/_native*.so "$package/"
export PYTHONPATH="$build/package" PYTHONMALLOC=malloc
# Leaks are looked for by tools/leaks.py; the interpreter itself keeps much until the end.
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)"
export LD_PRELOAD
# The runtime needs memory at addresses that a kernel may give to something else: where it can, it does not shuffle them.
fixed=""
command -v setarch >/dev/null && setarch -R true 2>/dev/null && fixed="setarch -R"
$fixed "$python" -c "import retrograd._native as native; assert 'sanitize' in native.__file__, native.__file__"
$fixed "$python" tools/leaks.py
tests="tests/engine/test_value.py tests/engine/test_backward.py tests/engine/test_copies.py tests/engine/test_domains.py tests/engine/test_engines.py tests/engine/test_changed_data.py tests/engine/test_hostile_use.py tests/engine/test_lifetime.py tests/engine/test_threads.py tests/engine/test_stress.py \
  tests/compiler/test_parameter_buffers.py tests/compiler/test_misuse.py"
# PyTorch and JAX do not live under a sanitizer's runtime, so in all tests what asks them is left to the other runs.
test "${2:-}" = all && tests="tests" && export RETROGRAD_WITHOUT=torch,jax
# Ctrl-C has a process of its own, in which no other test's threads are.
$fixed "$python" -m pytest -p no:cacheprovider tests/engine/test_interrupts.py
# shellcheck disable=SC2086
$fixed "$python" -m pytest -p no:cacheprovider -n auto -m "not memory" --ignore tests/engine/test_interrupts.py $tests

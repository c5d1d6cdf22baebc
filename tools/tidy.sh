#!/bin/sh
# clang-tidy over the native core, with the checks of .clang-tidy; any finding is an error: tools/tidy.sh PYTHON [all]
# Without "all" it leaves out the static analyzer, which takes three quarters of the time: make accuracy runs that.
set -eu
cd "$(dirname "$0")/.."
bin=$(cd "$(dirname "$1")" && pwd)
"$bin/python" -m pip install --quiet cmake ninja clang-tidy
"$bin/cmake" -S . -B build/tidy -G Ninja -DCMAKE_MAKE_PROGRAM="$bin/ninja" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
  -DPython_EXECUTABLE="$bin/python" >/dev/null
checks='-clang-analyzer-*'
test "${2:-}" = all && checks=
find native -name '*.cpp' | sort | xargs -P 2 -n 1 "$bin/clang-tidy" -p build/tidy --quiet "--checks=$checks"
echo "clang-tidy: nothing found"

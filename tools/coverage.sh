#!/bin/sh
# Print which lines of the native core and of the package the tests reach: tools/coverage.sh PYTHON [TEST ...]
set -eu
cd "$(dirname "$0")/.."
python=$1
shift
build=build/coverage
"$python" -m pip install --quiet cmake ninja coverage gcovr
bin=$(cd "$(dirname "$python")" && pwd)
top=$(pwd)
"$bin/cmake" -S . -B "$build" -G Ninja -DCMAKE_MAKE_PROGRAM="$bin/ninja" -DCMAKE_BUILD_TYPE=Debug -DRETROGRAD_COVERAGE=ON \
  -DPython_EXECUTABLE="$bin/$(basename "$python")" >/dev/null
"$bin/cmake" --build "$build" >/dev/null
find "$build" -name '*.gcda' -delete
package="$build/package/retrograd"
rm -rf "$package" && mkdir -p "$build/package" && cp -r src/retrograd "$package" && cp "$build"/_native*.so "$package/"
export PYTHONPATH="$top/$build/package" COVERAGE_FILE="$top/$build/coverage.data"
rm -f "$COVERAGE_FILE"*
"$python" -m coverage run --source="$package" -m pytest -p no:cacheprovider -q "$@" || echo "(tests failed under coverage)"
RETROGRAD_ENGINE=reference "$python" -m coverage run --append --source="$package" -m pytest -p no:cacheprovider -q \
  -m "not native" tests/test_value*.py tests/test_semantics.py tests/test_interrupts.py || echo "(tests failed under coverage)"
"$python" -m coverage report --skip-covered --sort=miss | tail -40
"$python" -m gcovr --root . --filter native/ --exclude-throw-branches --merge-mode-functions=merge-use-line-0 "$build"

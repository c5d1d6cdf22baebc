#!/bin/sh
# Print which lines of the native core and of the package the tests reach: tools/coverage.sh PYTHON [TEST ...]
set -eu
cd "$(dirname "$0")/.."
python=$1
shift
build=build/coverage
"$python" -m pip install --quiet cmake ninja "coverage>=7.10" "gcovr>=8.3"
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
# A test that fails here alone, for being slow, is named and does not stop the count: the tests themselves run elsewhere.
run() {
  "$python" -m coverage run --source="$top/$package,$top/src/retrograd" -m pytest -p no:cacheprovider -q -n auto --no-header "$@" ||
    echo "(tests failed under coverage)"
}
run "$@"
RETROGRAD_ENGINE=reference run -m "not native" tests/engine/test_value.py tests/engine/test_backward.py tests/engine/test_copies.py tests/engine/test_domains.py tests/engine/test_semantics.py tests/engine/test_interrupts.py \
  tests/compiler/test_recorder.py tests/compiler/test_recordings.py tests/autodiff/test_transforms.py tests/engine/test_index.py
"$python" -m coverage combine --quiet
"$python" -m coverage report --skip-covered --sort=miss | tail -60
# A line of a template counts once, whatever it was instantiated for.
"$python" -m gcovr --root . --filter native/ --exclude-throw-branches --merge-lines \
  --merge-mode-functions=merge-use-line-0 "$build"

# make demo      install into .venv, train the GPT on the bundled names, explain one expression
# make test      lint, types, generated files, the tests on both engines; says at the end what it could not run, and why
# make test-rest what make test could not run: installs PyTorch and JupyterLab, wants a browser, and runs exactly that
#                (any of these with another Python: make test PYTHON=python3.13 VENV=.venv-3.13)
# make bench     the figures of the README, as ratios in one run (make bench-compiled: those of compiled programs)
# make examples  run the examples of the pages and the notebook and write what they print
# make docs     the documentation site, into build/site
# make web       build the explorer's page into the package (Node from PATH or from PyPI); type-check it
# make pictures  the pictures of the README, from the pages that the tests see
# make generate  write the files that follow from the op table (src/retrograd/ops/table.py)
# make sanitize  the native tests under AddressSanitizer and UBSan, and the leak check
# make accuracy  all of it at length: the accuracy table and its mutants, long random runs, fuzzers, 100 million nodes,
#                all tests under the sanitizers, clang-tidy with its analyzer, coverage, known holes in what is installed
# make dist      wheel, pure wheel and sdist into dist/, checked, and tried where there is no compiler
# make cross     would the C++ compile on macOS, Windows, musl and ARM? Clang reads it with their headers
# make lock      write the versions of tools and libraries that the tests are run with (tools/constraints.txt)
# make audit     ask the package index for known holes in what is installed

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# The accuracy table shows what this one answers.
TORCH ?= torch==2.13.0
RUN ?= runs/demo
CPP := $(shell find native -name '*.cpp' -o -name '*.hpp' -o -name '*.inc') $(wildcard benchmarks/peers/c/*.[ch])
SOURCES := $(shell find src native web -type f -not -name '*.pyc' -not -name '*.so' -not -path '*/node_modules/*' -not -path '*/bundle/*') CMakeLists.txt pyproject.toml README.md

.PHONY: docs course web pictures demo test test-rest lint types unit reference bench bench-compiled generate examples format sanitize accuracy tidy dist cross lock audit clean

demo: $(VENV)/installed
	$(BIN)/retrograd train gpt --out $(RUN) --force
	$(BIN)/retrograd explain "(a*b + c) * (a + b)" a=2 b=-3 c=10
	$(BIN)/retrograd explore "(a*b + c) * (a + b)" a=2 b=-3 c=10 --no-browser --out $(RUN)/explorer.html

# Each of the first two has one process.
test: $(VENV)/tested
	@$(MAKE) --no-print-directory -j2 lint types
	@$(MAKE) --no-print-directory unit reference
	@$(BIN)/python tools/not_run.py

# Exactly what the last make test skipped for want of something. What still misses it fails.
test-rest: $(VENV)/complete
	$(BIN)/python tools/not_run.py --run

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/installed: $(BIN)/python $(SOURCES)
	@$(BIN)/python tools/install.py .
	@touch $@

$(VENV)/tested: $(BIN)/python $(SOURCES)
	@$(BIN)/python tools/install.py ".[test]" -C cmake.define.RETROGRAD_WERROR=ON
	@touch $@ $(VENV)/installed

$(VENV)/complete: $(VENV)/tested
	@$(BIN)/python tools/install.py $(TORCH) jupyterlab
	@touch $@

web: $(BIN)/python
	$(BIN)/python tools/web.py
	$(BIN)/python tools/web.py --types

pictures: $(VENV)/tested
	RETROGRAD_PICTURES=docs/pictures $(BIN)/python -m pytest tests/explorer/test_pictures.py

lint: $(VENV)/tested
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	@$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/python tools/generate.py --check
	$(BIN)/python tools/course.py --check

types: $(VENV)/tested
	$(BIN)/mypy --strict src/retrograd tools benchmarks accuracy
	$(BIN)/python tools/web.py --types
	$(BIN)/python -m mypy.stubtest retrograd._native retrograd.math --allowlist tools/stubtest_allowlist.txt

# Each process takes its share of the tests, file by file, and then of another's: what a file builds once is built once.
PYTEST := $(BIN)/python -m pytest tests -n auto --dist worksteal

unit: $(VENV)/tested
	$(PYTEST) --not-run build/not-run/native.json

# The same suite on the engine in plain Python, less what does not depend on the engine and is marked "native".
reference: $(VENV)/tested
	RETROGRAD_ENGINE=reference $(PYTEST) --not-run build/not-run/reference.json

bench: $(VENV)/tested
	$(BIN)/python -m benchmarks

bench-compiled: $(VENV)/tested
	$(BIN)/python -m benchmarks --compiled

generate: $(BIN)/python
	$(BIN)/python tools/generate.py

# The notebooks of the course and the answers for teachers, from the chapters.
course: $(VENV)/tested
	$(BIN)/python tools/course.py

docs: $(VENV)/tested
	$(BIN)/python tools/docs.py

# With PyTorch: the pages show its opinion too.
examples: $(VENV)/complete
	$(BIN)/python tools/examples.py

format: $(VENV)/tested
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	$(BIN)/clang-format -i $(CPP)

# A build of its own, beside the sources, with the sanitizers' runtime loaded before Python.
sanitize: $(VENV)/tested
	tools/sanitize.sh $(BIN)/python

# Tests that are slices elsewhere and whole here, where they ask for ALL; that of scale has the machine to itself.
SLICED = $(filter-out tests/engine/test_scale.py,$(shell grep -rlw ALL tests --include='test_*.py')) tests/engine/test_faults.py

# The libraries that are compared with are part of it: their absence is a failure here, and not a skip.
accuracy: export RETROGRAD_REQUIRE = all
accuracy: $(VENV)/complete audit
	tools/tidy.sh $(BIN)/python all
	$(BIN)/python -m accuracy
	RETROGRAD_ALL=1 $(BIN)/python -m pytest -n auto --dist loadfile -rPs $(SLICED)
	RETROGRAD_ALL=1 $(BIN)/python -m pytest -s tests/engine/test_scale.py
	$(BIN)/python tools/fuzz.py --seconds 120
	tools/sanitize.sh $(BIN)/python all
	tools/coverage.sh $(BIN)/python tests

tidy: $(VENV)/tested
	tools/tidy.sh $(BIN)/python

# After make test, which compiles with the same flags, little is compiled again.
dist: $(BIN)/python
	@$(BIN)/python tools/install.py --group dist
	@$(BIN)/python tools/dist.py

cross: $(BIN)/python
	@$(BIN)/python tools/install.py --group cross
	@$(BIN)/python tools/cross.py

lock: $(BIN)/python
	$(BIN)/python -m pip install --quiet --group wheels
	$(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.11 --no-header --no-annotate \
	  --no-emit-index-url --extra test --group dist --group cross --group wheels pyproject.toml -o tools/constraints.txt

# Known holes in what is installed, as the package index knows them.
audit: $(VENV)/tested
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/python tools/audit.py

clean:
	rm -rf $(VENV) build dist runs

# make demo      install into .venv, train the GPT on the bundled names, explain one expression
# make test      everything that CI checks: lint, types, generated files, the tests on both engines
# make bench     the figures of the README, as ratios in one run
# make examples  run the examples of the pages and the notebook and write what they print
# make generate  write the files that follow from the op table (src/retrograd/ops.py)
# make sanitize  the native tests under AddressSanitizer and UBSan, and the leak check
# make trust     all of it at length: the accuracy table and its mutants, long random runs, fuzzers, 100 million nodes,
#                all tests under the sanitizers, clang-tidy, coverage (half an hour on two cores)

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
RUN ?= runs/demo
CPP := $(wildcard native/*.cpp native/*.hpp)
SOURCES := $(shell find src native -type f -not -name '*.pyc' -not -name '*.so') CMakeLists.txt pyproject.toml README.md

.PHONY: demo test lint types unit reference bench generate examples format sanitize trust tidy audit clean

demo: $(VENV)/installed
	$(BIN)/retrograd train gpt --out $(RUN) --force
	$(BIN)/retrograd explain "(a*b + c) * (a + b)" a=2 b=-3 c=10

test: lint types unit reference

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/installed: $(BIN)/python $(SOURCES)
	$(BIN)/python -m pip install --quiet .
	@touch $@

$(VENV)/tested: $(BIN)/python $(SOURCES)
	$(BIN)/python -m pip install --quiet ".[test]" -C cmake.define.RETROGRAD_WERROR=ON
	@touch $@ $(VENV)/installed

lint: $(VENV)/tested
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/python tools/generate.py --check

types: $(VENV)/tested
	$(BIN)/mypy --strict src/retrograd tools benchmarks
	$(BIN)/python -m mypy.stubtest retrograd._native retrograd.math

unit: $(VENV)/tested
	$(BIN)/python -m pytest tests -n auto

# The same suite on the engine in plain Python. Tests of the native engine alone say so and are not run twice.
reference: $(VENV)/tested
	RETROGRAD_ENGINE=reference $(BIN)/python -m pytest tests -n auto -m "not native"

bench: $(VENV)/installed
	$(BIN)/retrograd bench

generate: $(BIN)/python
	$(BIN)/python tools/generate.py

# Wants PyTorch and JAX in the environment: the pages show their opinion too.
examples: $(VENV)/tested
	$(BIN)/python tools/examples.py

format: $(VENV)/tested
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	$(BIN)/clang-format -i $(CPP)

# A build of its own, beside the sources, with the sanitizers' runtime loaded before Python.
sanitize: $(VENV)/tested
	tools/sanitize.sh $(BIN)/python

trust: $(VENV)/tested tidy
	$(BIN)/python -m pip install --quiet ".[trust,fuzz]"
	$(BIN)/retrograd trust
	RETROGRAD_TRUST=1 $(BIN)/python -m pytest -s tests/test_trust.py tests/test_programs.py tests/test_scale.py \
	  tests/test_faults.py tests/test_security.py
	$(BIN)/python tools/fuzz.py --seconds 120
	tools/sanitize.sh $(BIN)/python all
	tools/coverage.sh $(BIN)/python tests

tidy: $(VENV)/tested
	tools/tidy.sh $(BIN)/python

# Known holes in what is installed, as the package index knows them.
audit: $(VENV)/tested
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/python -m pip_audit --local --skip-editable

clean:
	rm -rf $(VENV) build dist runs

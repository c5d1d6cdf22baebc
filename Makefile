# make demo      install into .venv, train the GPT on the bundled names, explain one expression
# make test      everything that CI checks: lint, types, generated files, the tests on both engines
# make bench     the figures of the README, as ratios in one run
# make examples  run the examples of the pages and the notebook and write what they print
# make web       build the explorer's page into the package (Node from PATH or from PyPI); type-check it
# make pictures  the pictures of the README, from the pages that the tests see
# make generate  write the files that follow from the op table (src/retrograd/ops/table.py)
# make sanitize  the native tests under AddressSanitizer and UBSan, and the leak check
# make trust     all of it at length: the accuracy table and its mutants, long random runs, fuzzers, 100 million nodes,
#                all tests under the sanitizers, clang-tidy, coverage, known holes in what is installed
# make audit     ask the package index for known holes in what is installed

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# As in .ci/run: the accuracy table shows what this one answers.
TORCH ?= torch==2.13.0
RUN ?= runs/demo
CPP := $(wildcard native/*.cpp native/*.hpp native/compiler/*.cpp native/compiler/*.hpp native/compiler/*.inc native/compiler/kernels/*.inc src/retrograd/bench/peers/c/*.[ch])
SOURCES := $(shell find src native web -type f -not -name '*.pyc' -not -name '*.so' -not -path '*/node_modules/*' -not -path '*/bundle/*') CMakeLists.txt pyproject.toml README.md

.PHONY: web pictures demo test lint types unit reference bench generate examples format sanitize trust tidy audit clean

demo: $(VENV)/installed
	$(BIN)/retrograd train gpt --out $(RUN) --force
	$(BIN)/retrograd explain "(a*b + c) * (a + b)" a=2 b=-3 c=10
	$(BIN)/retrograd explore "(a*b + c) * (a + b)" a=2 b=-3 c=10 --no-browser --out $(RUN)/explorer.html

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

$(VENV)/trusted: $(BIN)/python $(SOURCES)
	$(BIN)/python -m pip install --quiet $(TORCH) ".[test,trust,fuzz,torch,jax]" -C cmake.define.RETROGRAD_WERROR=ON
	@touch $@ $(VENV)/tested $(VENV)/installed

web: $(BIN)/python
	$(BIN)/python tools/web.py
	$(BIN)/python tools/web.py --types

pictures: $(VENV)/tested
	RETROGRAD_PICTURES=docs/pictures $(BIN)/python -m pytest tests/explorer/test_pictures.py

lint: $(VENV)/tested
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/python tools/generate.py --check

types: $(VENV)/tested
	$(BIN)/mypy --strict src/retrograd tools benchmarks
	$(BIN)/python tools/web.py --types
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

# The libraries that are compared with are part of it: their absence is a failure here, and not a skip.
trust: export RETROGRAD_REQUIRE = torch,jax,autograd,casadi,xad,atheris,sympy,mpmath,scipy.optimize,llvmlite
trust: $(VENV)/trusted tidy audit
	$(BIN)/retrograd trust
	RETROGRAD_TRUST=1 $(BIN)/python -m pytest -n auto --dist loadfile -rPs tests/test_trust.py tests/engine/test_random_programs.py \
	  tests/compiler/test_random_compiled.py tests/engine/test_faults.py tests/cli/test_security.py
	RETROGRAD_TRUST=1 $(BIN)/python -m pytest -s tests/engine/test_scale.py
	$(BIN)/python tools/fuzz.py --seconds 120
	tools/sanitize.sh $(BIN)/python all
	tools/coverage.sh $(BIN)/python tests

tidy: $(VENV)/tested
	tools/tidy.sh $(BIN)/python

# Known holes in what is installed, as the package index knows them.
audit: $(VENV)/tested
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/python tools/audit.py

clean:
	rm -rf $(VENV) build dist runs

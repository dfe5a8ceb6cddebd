# Two commands for a new user: `make demo` and `make test`. Both make their own environment.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# PyTorch and JAX have an environment of their own: the other tests show that dctx works without.
TORCH_VENV ?= .venv-torch
TORCH_BIN  := $(TORCH_VENV)/bin
# Which PyTorch, as pip understands it. PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu takes
# builds for the CPU: a tenth of the download.
TORCH ?= torch
SOURCES := pyproject.toml $(shell git ls-files -- native live ingest queries analyzers reports cli tui demo_data 2>/dev/null)
NATIVE_BUILD ?= build/native-tests
THREAD_BUILD ?= build/thread-tests

.PHONY: demo test test-torch frameworks bench lint types format test-native fuzz screenshots clean help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dctx needs Python 3.11 or newer; $(PYTHON) is older. Use: make PYTHON=python3.12 …" >&2; exit 1; }
	@command -v $${CXX:-c++} >/dev/null || command -v g++ >/dev/null || \
	  { echo "dctx needs a C++17 compiler (Debian: apt install g++)." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "Python cannot make a virtual environment (Debian: apt install python3-venv)." >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(VENV)/.wheel: $(SOURCES) | $(BIN)/python
	@echo 'Building dctx: about a minute, most of it compiling.'
	@rm -rf $(VENV)/wheels
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(VENV)/wheels .
	@touch $@

# First what it needs: pip leaves a wheel alone whose version is installed, unless it is forced.
$(VENV)/.installed: $(VENV)/.wheel
	$(BIN)/python -m pip install --quiet $(VENV)/wheels/*.whl
	$(BIN)/python -m pip install --quiet --no-deps --force-reinstall $(VENV)/wheels/*.whl
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group test
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group lint
	@touch $@

demo: $(VENV)/.installed ## open the demo trace (prints the overview when there is no terminal)
	@$(BIN)/dctx-tui --demo

test: $(VENV)/.test ## run the tests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# The oldest pip of a new environment may not know of groups.
$(TORCH_BIN)/python: | $(BIN)/python
	@$(BIN)/python -m venv $(TORCH_VENV)
	@$(TORCH_BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(TORCH_VENV)/.frameworks: pyproject.toml | $(TORCH_BIN)/python
	$(TORCH_BIN)/python -m pip install --quiet --group test --group torch '$(TORCH)'
	@touch $@

$(TORCH_VENV)/.installed: $(VENV)/.wheel $(TORCH_VENV)/.frameworks
	$(TORCH_BIN)/python -m pip install --quiet $(VENV)/wheels/*.whl
	$(TORCH_BIN)/python -m pip install --quiet --no-deps --force-reinstall $(VENV)/wheels/*.whl
	@touch $@

frameworks: $(TORCH_VENV)/.frameworks # PyTorch and JAX alone, which is most of the downloading

test-torch: $(TORCH_VENV)/.installed ## the tests that need PyTorch and JAX (their CPU builds will do)
	$(TORCH_BIN)/python -m pytest tests/monitor tests/live tests/reports/test_replay.py $(PYTEST_ARGS)

bench: $(VENV)/.test ## measure: prints a table, writes JSON to bench/results
	$(BIN)/python -m bench

lint: $(VENV)/.lint ## style, layers, C++ format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	git ls-files '*.cpp' '*.hpp' | xargs $(BIN)/clang-format --dry-run -Werror

types: $(VENV)/.lint ## mypy and pyright, strict, over every file
	PATH="$(abspath $(BIN)):$$PATH" sh tests/check_types.sh

format: $(VENV)/.lint ## rewrite files to the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	git ls-files '*.cpp' '*.hpp' | xargs $(BIN)/clang-format -i

test-native: ## C++ tests under the address, undefined-behaviour and thread sanitizers, warnings as errors
	cmake -S native -B $(NATIVE_BUILD) -DDCTX_TESTS=ON -DDCTX_WERROR=ON -DDCTX_SANITIZE=ON
	cmake --build $(NATIVE_BUILD) --parallel 2
	ctest --test-dir $(NATIVE_BUILD) --output-on-failure --parallel 2
	cmake -S native -B $(THREAD_BUILD) -DDCTX_TESTS=ON -DDCTX_WERROR=ON -DDCTX_SANITIZE_THREAD=ON
	cmake --build $(THREAD_BUILD) --parallel 2
	ctest --test-dir $(THREAD_BUILD) --output-on-failure

fuzz: ## damaged files, 100,000 of each format, under the sanitizers; JSON without SIMD too
	cmake -S native -B $(NATIVE_BUILD) -DDCTX_TESTS=ON -DDCTX_WERROR=ON -DDCTX_SANITIZE=ON
	cmake --build $(NATIVE_BUILD) --parallel 2
	$(NATIVE_BUILD)/scan_fuzz_test 100000
	$(NATIVE_BUILD)/trace_event_fuzz_test 100000
	$(NATIVE_BUILD)/xplane_fuzz_test 100000
	$(NATIVE_BUILD)/document_fuzz_test 100000
	cmake -S native -B $(NATIVE_BUILD)-plain -DDCTX_TESTS=ON -DDCTX_WERROR=ON -DDCTX_SANITIZE=ON -DDCTX_PLAIN_CHARS=ON
	cmake --build $(NATIVE_BUILD)-plain --parallel 2 --target trace_event_fuzz_test
	$(NATIVE_BUILD)-plain/trace_event_fuzz_test 100000

docs/keys.md: $(VENV)/.installed ## the page of keys, from the table in tui/keys.py
	$(BIN)/python -c 'from dctx.tui.key_texts import markdown; print(markdown(), end="")' >$@

screenshots: $(VENV)/.installed ## redraw the README's pictures from the demo trace
	$(BIN)/python docs/screenshots.py

clean: ## remove what the targets made
	rm -rf $(VENV) $(TORCH_VENV) build

# memory-magic: `make demo` shows it, `make test` checks everything. Needs Python 3.11 or newer, git and make; uv is used when it is there.
# Nothing here needs root; after the first run nothing here needs a network.

PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= auto
RUN    := $(VENV)/bin
LOCKS  := requirements.lock requirements-dev.lock
EXPORT := uv export --quiet --frozen --format requirements-txt --no-emit-project --no-annotate --no-header --group build
SPARE  := $(VENV)-wheel
FAST   := not browser and not slow

export PYTHON

.PHONY: help demo check lint test wheel-test bench lock clean

help:  ## what can be made
	@sed -n 's/^\([a-z-]*\):.*  ## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

demo:  ## the main job on real input, in a throw-away store (about a minute the first time)
	@sh .ci/venv $(VENV) requirements.lock
	@$(RUN)/python tests/demo.py

lint:
	@sh .ci/venv $(VENV) requirements-dev.lock
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(RUN)/lint-imports
	$(RUN)/interrogate --quiet tests

check: lint  ## the fast part: style, types, layers, tests that need neither a browser nor much time
	$(RUN)/python -m pytest -q -n $(JOBS) -m "$(FAST)"

# Browsers, and slow tests that kill processes and race them against the clock, get the machine for themselves, and no
# tracer; the coverage asked for is reached without them.
test: lint  ## everything: check, browser and slow tests, coverage, the built wheel
	$(RUN)/python -m pytest -q -n $(JOBS) -m "$(FAST)" --cov --cov-report=term
	$(RUN)/python -m pytest -q -m "browser or slow"
	@$(MAKE) --no-print-directory wheel-test

wheel-test:  ## the fast tests against the built wheel, outside the tree
	@sh .ci/venv $(VENV) requirements-dev.lock
	@sh .ci/wheel-test $(VENV) $(SPARE) -q -n $(JOBS) -m "$(FAST)"

# --benchmark-skip of pyproject.toml would forbid them, so its options are given again without it
bench:  ## ratios of speed, on compiled packages
	@sh .ci/venv $(VENV) requirements-dev.lock
	@env -u PYTHONDONTWRITEBYTECODE $(RUN)/python -m compileall -qq $(VENV)/lib || true  # templates in there are no Python
	env -u PYTHONDONTWRITEBYTECODE $(RUN)/python -m compileall -q memory_magic dashboard tests/bench
	env -u PYTHONDONTWRITEBYTECODE $(RUN)/python -m pytest -q tests/bench --benchmark-only --benchmark-warmup=on \
	  -o python_files='bench_*.py' -o addopts='-ra --strict-markers --strict-config --import-mode=importlib'

lock:  ## both locks anew, with the hashes of every platform and no address (needs uv)
	rm -f uv.lock
	uv lock --quiet
	$(EXPORT) --extra notebook --extra dashboard --output-file requirements.lock >/dev/null
	$(EXPORT) --extra dev --extra models --extra mcp --extra connect --output-file requirements-dev.lock >/dev/null
	rm -f uv.lock
	@! grep -n '://' $(LOCKS)

clean:  ## remove what these commands made
	rm -rf $(VENV) $(VENV)-* build dist .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	  .import_linter_cache .benchmarks memory_magic.egg-info

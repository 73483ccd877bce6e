# `make demo` and `make test` need Python 3.11 or newer with its venv module, make and git.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
READY := $(VENV)/.ready
# What `make test` takes on two quiet cores. Nothing else states it.
MINUTES := 4
# Tests that are compiled once, with asserts that explain themselves, begin 5 seconds sooner.
unexport PYTHONDONTWRITEBYTECODE
# Neighboring tests share fixtures, so each worker begins with a stretch of them.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal
FAST := -m "not slow and not browser"

.PHONY: help demo test test-fast test-often test-alone coverage check check-page bench matrix docs docs-pictures dist audit sbom lock clean

help:  ## what there is to make
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{ printf "make %-14s %s\n", $$1, $$2 }'

demo: $(READY)  ## questions about pictures on a page; where there is no screen, a simulated person
	$(BIN)/likewise demo

test: $(READY)  ## the whole suite; what needs an extra that is missing is skipped and says so
	@echo "About $(MINUTES) minutes on two cores; 'make test-fast' takes one."
	$(PYTEST)

test-fast: $(READY)  ## a minute on two cores: no slow tests, fewer drawn examples
	$(PYTEST) $(FAST)

# What runs at once: browsers, servers, threads, Dask workers, processes on one file, kills; and the same bits everywhere.
# Ten workers on two cores, beside two busy processes, show races that a quiet machine hides.
AT_ONCE := tests/browser tests/web tests/cli/test_served.py tests/rows/test_threads.py tests/rows/test_dask.py \
  tests/lab/experiments/test_cells.py::test_a_dask_client_gives_the_same_rows tests/project/test_kill.py \
  tests/store/test_store.py tests/project/test_large.py tests/project/test_same_labels.py tests/cluster/test_same_labels.py
TIMES := 20

test-often: $(READY)  ## tests of what runs at once, TIMES times beside two busy processes, until one fails
	@for _ in 1 2; do $(BIN)/python -c "while True: pass" & busy="$$busy $$!"; done; trap "kill $$busy" EXIT; \
	for k in $$(seq $(TIMES)); do $(PYTEST) -n 10 -q $(AT_ONCE) || exit 1; echo "passed $$k of $(TIMES) times"; done

ORDERS := 1 2 3

test-alone: $(READY)  ## every folder of tests by itself, then all of them in the drawn orders ORDERS
	@for folder in $$(find tests -name 'test_*.py' -exec dirname {} + | sort -u); do \
	  echo "alone: $$folder"; $(PYTEST) -q $$folder --ignore-glob="$$folder/*/*" || exit 1; done
	@for seed in $(ORDERS); do $(PYTEST) -q --order $$seed || exit 1; done

coverage: $(READY)  ## the fast part again, and whether it still covers what it did (fail_under in pyproject.toml)
	$(PYTEST) $(FAST) --cov

check: $(READY) check-page  ## lint, format, types, layers, spelling, prose
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell
	$(BIN)/python docs/prose.py
	$(BIN)/python docs/make_figures.py --check

PAGE := tools/page/node_modules/.ready

check-page:  ## the page's JavaScript and CSS; where there is no node, it says that it left them out
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory $(PAGE) && npm --prefix tools/page run --silent check; \
	else echo "Left out: biome and tsc, which check the page's code, since there is no node here."; fi

$(PAGE): tools/page/package-lock.json
	npm --prefix tools/page install --no-save --silent --no-audit --no-fund
	touch $@

matrix:  ## the fast tests with the lowest and the newest dependencies, on every Python that is here (needs uv)
	$(PYTHON) tools/matrix.py

bench: $(READY)  ## speed, as ratios measured in one run; see benchmarks/README.md
	$(BIN)/python -m benchmarks

$(READY): requirements/dev.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

docs: $(READY)  ## the site, in docs/_build/html; LIKEWISE_GALLERY=0 leaves out running the examples
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/docs.lock
	$(BIN)/python -m sphinx -q -W --keep-going -j 2 -b html docs docs/_build/html

docs-pictures: $(READY)  ## make the pictures of the page anew (needs Chromium and the group `browser`)
	$(BIN)/python docs/make_pictures.py

dist: $(READY)  ## sdist and wheel, checked as far as that goes without PyPI
	rm -rf dist
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/release.lock
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --no-isolation
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

audit: $(READY)  ## known weaknesses in the locked packages; asks PyPI, so it needs a network
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/release.lock
	$(BIN)/pip-audit --strict --disable-pip --require-hashes -r requirements/dev.lock
	$(BIN)/pip-audit --strict --disable-pip --require-hashes -r requirements/extras.lock

sbom: $(READY)  ## the bill of materials and the list of licenses, after a change of the dependencies
	$(BIN)/python packaging/make_sbom.py

COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --upgrade

lock:  ## renew the lock files after a change of pyproject.toml (needs uv)
	$(COMPILE) --extra page --extra networks --extra tables --extra data --extra plot --extra series --extra notebook --extra terminal --group test --group check \
	  pyproject.toml requirements/build.in -o requirements/dev.lock
	$(COMPILE) --extra dask --extra fast --extra lab --extra names --extra fastembed --extra formats --extra model --group browser -c requirements/dev.lock pyproject.toml -o requirements/extras.lock
	$(COMPILE) --no-deps requirements/small-model.in -o requirements/small-model.lock
	$(COMPILE) --no-deps requirements/readers.in -o requirements/readers.lock
	$(COMPILE) --group docs -c requirements/dev.lock -c requirements/extras.lock -o requirements/docs.lock
	$(COMPILE) --group release -c requirements/dev.lock -c requirements/extras.lock -c requirements/docs.lock -o requirements/release.lock

clean:  ## remove what was made: the environment, caches, distributions
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache

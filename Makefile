# `make run` and `make test` each take a fresh machine all the way; everything else reuses what they made.
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.installed-run
DEV_STAMP := $(VENV)/.installed-dev
NODE_STAMP := node_modules/.installed
BENCH_VENV := .venv-bench
BENCH_STAMP := $(BENCH_VENV)/.installed
ARGS ?=
# Two test processes with one thread each: torch's threads only get in each other's way.
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help run test test-js lint coverage bench fuzz attack soak load docs lock sbom audit container release screenshots browser browsers firefox drawing proxy clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

run: $(RUN_STAMP) ## Install what is needed and start the page on http://127.0.0.1:7860
	$(BIN)/python app.py $(ARGS)

test: $(DEV_STAMP) $(NODE_STAMP) browser firefox drawing proxy ## Install what is needed; lint, types, unit, API and browser tests
	$(MAKE) --no-print-directory lint test-js
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(ARGS)

coverage: $(DEV_STAMP) $(NODE_STAMP) browser drawing proxy ## The tests once more, and how much of each package they run
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --cov --cov-report= $(ARGS)
	$(BIN)/python scripts/coverage_by_package.py

test-js: $(NODE_STAMP) ## Unit tests of the scripts, without a browser
	npm test --silent

lint: $(DEV_STAMP) $(NODE_STAMP) ## Ruff and mypy; ESLint and the TypeScript compiler over the scripts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	npm run lint --silent

bench: $(BENCH_STAMP) browser ## Cost beside peers and the limit, as ratios in one run; ARGS="--quick --only slider"
	$(BENCH_VENV)/bin/python -m benchmarks $(ARGS)

fuzz: $(DEV_STAMP) ## Random files and requests for some seconds each; ARGS="--seconds 60 --seed 1"
	$(BIN)/python -m tests.fuzz $(ARGS)

attack: $(DEV_STAMP) ## A bounded set of attacks against a started server, as a table
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.attack $(ARGS)

soak: $(DEV_STAMP) ## Long use of one server: does anything grow?
	$(BIN)/python scripts/soak.py $(ARGS)

load: $(DEV_STAMP) ## Twenty sessions at once against one user
	$(BIN)/python -m benchmarks --only load $(ARGS)

lock: $(DEV_STAMP) ## Write the lock files again: every package and hash; ARGS="--upgrade-package gradio"
	sh scripts/lock.sh $(BIN)/python $(ARGS)

container: ## Build and try the image with buildah on a Debian base; without the tools, its steps in a clean folder
	python3 scripts/container.py $(ARGS)

release: $(DEV_STAMP) ## Build and check the wheel and the sources of this version, and tag it; ARGS=--dry-run
	$(BIN)/python scripts/release.py $(ARGS)

docs: $(DEV_STAMP) ## The documents as a site in site/, with search and API reference, without network
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html; searching needs a server: $(BIN)/python -m http.server -d site 8000"

sbom: $(DEV_STAMP) ## Write sbom.json (CycloneDX): every package with version and licence
	$(BIN)/python scripts/sbom.py --out sbom.json $(ARGS)

audit: $(DEV_STAMP) ## Known vulnerabilities of the pinned packages, and licences
	$(BIN)/python scripts/sbom.py --licences
	sh scripts/audit.sh $(BIN)/python

screenshots: $(DEV_STAMP) browser ## Take the README's pictures
	$(BIN)/python scripts/screenshots.py

browser: ## Chromium and fonts for the browser tests
	@sh scripts/setup.sh browser

firefox: # for the short flows; its tests are skipped without it
	@sh scripts/setup.sh firefox

browsers: $(DEV_STAMP) browser ## The short flows in Chromium, Firefox and WebKitGTK
	@sh scripts/setup.sh browsers
	OMP_NUM_THREADS=1 SDTPS_BROWSERS=chromium,firefox,webkit $(BIN)/python -m pytest tests/web/browsers $(ARGS)

drawing: # OpenGL without a window, for the tests that render people
	@sh scripts/setup.sh drawing

proxy: # nginx, for the test of two replicas
	@sh scripts/setup.sh proxy

clean: ## Remove the virtual environment and caches
	rm -rf $(VENV) $(BENCH_VENV) node_modules .pytest_cache .mypy_cache .ruff_cache

# Everything is in the lock, so nothing is resolved: what is installed is what was tested, by hash.
INSTALL := -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r

$(RUN_STAMP): requirements.lock
	@sh scripts/setup.sh venv $(VENV)
	$(BIN)/python $(INSTALL) requirements.lock
	@touch $@

$(DEV_STAMP): requirements-dev.lock
	@sh scripts/setup.sh venv $(VENV)
	$(BIN)/python $(INSTALL) requirements-dev.lock
	@touch $@ $(RUN_STAMP)

# Tools that check the scripts; the page is joined by Python and needs none of them.
$(NODE_STAMP): package.json package-lock.json
	@sh scripts/setup.sh node
	npm ci --silent --no-progress
	@touch $@

# The peers live beside the program's environment, not in it: they see its torch and change nothing there.
$(BENCH_STAMP): $(DEV_STAMP) requirements-bench.txt
	@sh scripts/setup.sh beside $(VENV) $(BENCH_VENV)
	$(BIN)/python -m pip --python $(BENCH_VENV)/bin/python install --quiet --disable-pip-version-check --no-deps \
		-r requirements-bench.txt
	@touch $@

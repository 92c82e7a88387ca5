PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: install reproduce test bench lint clean

install: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

reproduce: install
	$(BIN)/lemmata reproduce --scale quick

test: install
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

bench: install
	$(BIN)/python -m benchmarks

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

clean:
	rm -rf .venv lemmata-out

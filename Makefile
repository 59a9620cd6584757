# The commands of this repository; `make` lists them. They run in the active environment
# (CONTRIBUTING.md, "Set up").

RUNTIME := formats/tokexport
SHARED ?= $(TOKEXPORT_SHARED)
CC ?= cc

.DEFAULT_GOAL := help
.PHONY: help test slow lint golden amalgamate layout readme bench fuzz conformance

help: ## list these commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "%-12s %s\n", $$1, $$2 }'

test: ## run the tests
	pytest

slow: ## run all of the tests, with many more examples: hours
	TOKEXPORT_SLOW=1 pytest

lint: ## check style and types
	ruff check .
	ruff format --check .
	mypy --strict

amalgamate: ## make tokexport.c from its units
	python $(RUNTIME)/amalgamate.py

layout: ## make what repeats the layout: C constants, SPEC.md's tables, _core.pyi
	python $(RUNTIME)/generate.py

golden: ## make the golden files again: after a change of the format, and only then
	python $(RUNTIME)/golden/make.py

readme: ## make the table of limits, and run the commands of README.md
	python -m tests.parts docs/LIMITS.md
	pytest tests/docs

bench: ## measure, and write docs/speed.svg and the tables of README.md and docs/BENCHMARKS.md
	pip install '.[verify]' -r benchmarks/requirements.txt
	TOKEXPORT_SHARED=$(SHARED) python benchmarks

fuzz: ## run mutated golden files through the C core, 5,000 of each, under sanitizers
	mkdir -p build
	$(CC) -std=c99 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -I$(RUNTIME) \
	    -o build/fuzz tests/c/fuzz_runtime.c $(RUNTIME)/tokexport.c $(RUNTIME)/tokexport_extra.c
	build/fuzz $$(date +%s) 5000 $(RUNTIME)/golden/*.bin

conformance: ## compare every tokenizer under $SHARED with its library: an hour
	python -m tests.conformance $(SHARED)/tokenizers --strings 10000 --no-code-points \
	    --texts $(SHARED)/corpora/naughty --vectors $(SHARED)/vectors \
	    --pattern torchtune-toys/tiktoken_small.model=llama3 -o docs/CONFORMANCE.md

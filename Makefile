# Skerry's build. `make help` lists the targets. Needed: Go, a C compiler (SQLite
# is compiled in), git and GNU make; the go command fetches everything else, at
# the versions that go.mod and tools/go.mod pin.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:

GO ?= go
BIN := bin

# SQLite must not load code that a caller of SQL names. The tag is appended, so
# that it stands whatever else the environment asks of the go command.
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS) -tags=sqlite_omit_load_extension)
export CGO_ENABLED := 1
# Go's own default, said here because SQLite's speed hangs on it: a binary built
# without make is the same, and the two share one build cache.
export CGO_CFLAGS ?= -g -O2

# The go command stamps the version from git's tags and commit, except where git
# can say nothing: an archive, or a checkout that belongs to another user.
BUILDVCS := $(shell git log -1 >/dev/null 2>&1 && echo true || echo false)

TEST_TIMEOUT ?= 5m
# The test of the real binary: its package and its name.
WORKER_PKG ?= ./cmd/skerry/...
WORKER_TEST ?= ^TestWorker
# Folder whose files the demo works on (empty: Go's own package net), or file of items
# for demo-runs (empty: the one that is shipped).
INPUT ?=
BENCH ?= .
BENCH_COUNT ?= 10
# An earlier result to compare with.
BENCH_BASE ?=
FUZZTIME ?= 10s

# A tool runs at the version of tools/go.mod, outside the module's own graph.
tool = $(GO) tool -modfile=tools/go.mod

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## build bin/skerry
	$(GO) build -buildvcs=$(BUILDVCS) -o $(BIN)/ ./cmd/skerry

.PHONY: check
check: format lint test ## everything a change must pass: format, linters, all tests under the race detector

.PHONY: format
format: ## fail on files that gofumpt would change
	@changed=$$($(tool) gofumpt -l .); \
	if [ -n "$$changed" ]; then echo "run 'make fix' on:"; echo "$$changed"; exit 1; fi

.PHONY: fix
fix: ## format all files
	$(tool) gofumpt -w .

.PHONY: lint
lint: ## vet, staticcheck, the rules of tools/lint, unreachable functions
	$(GO) vet ./...
	$(tool) staticcheck ./...
	$(GO) build -C tools -buildvcs=false -o ../$(BIN)/lint ./lint
	$(GO) vet -vettool=$(CURDIR)/$(BIN)/lint ./...
	@dead=$$($(tool) deadcode -test ./...); \
	if [ -n "$$dead" ]; then echo "$$dead"; exit 1; fi

# Examples are tested like everything else, and so are the linter's own rules.
.PHONY: test
test: ## run all tests under the race detector
	$(GO) test -race -timeout $(TEST_TIMEOUT) ./...
	$(GO) test -C tools ./...

# A pattern that matches nothing would pass.
.PHONY: test-worker
test-worker: build ## run the test of the real binary: workers, SQLite file, kill -9
	@log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	$(GO) test -count=1 -v -timeout $(TEST_TIMEOUT) -run '$(WORKER_TEST)' $(WORKER_PKG) | tee "$$log"; \
	grep -q '^--- PASS' "$$log" || { echo "no test matches $(WORKER_TEST) in $(WORKER_PKG)"; exit 1; }

.PHONY: demo
demo: build ## compress the files of INPUT with competing workers, one of them killed midway
	$(GO) build -buildvcs=false -o $(BIN)/ ./examples/compress
	$(BIN)/compress -skerry $(BIN)/skerry $(if $(INPUT),-input '$(INPUT)')

.PHONY: demo-runs
demo-runs: build ## share workers between two tenants' runs over INPUT, one worker killed midway
	$(GO) build -buildvcs=$(BUILDVCS) -o $(BIN)/ ./examples/batch
	$(BIN)/batch -skerry $(BIN)/skerry $(if $(INPUT),-input '$(INPUT)')

.PHONY: bench
bench: ## run the benchmarks of BENCH, and compare with BENCH_BASE
	@mkdir -p $(BIN)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(BENCH_COUNT) ./... | tee $(BIN)/bench.txt
	$(tool) benchstat $(BENCH_BASE) $(BIN)/bench.txt

# The go command fuzzes one target at a time.
.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME
	@grep -rHoE --include='*_test.go' --exclude-dir=tools '^func Fuzz[A-Za-z0-9_]+' . | while IFS=: read -r file func; do \
		echo "== $$(dirname "$$file") $${func#func }"; \
		$(GO) test -run '^$$' -fuzz "^$${func#func }\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" </dev/null; \
	done

.PHONY: cover
cover: ## measure how much of the code the tests run
	@mkdir -p $(BIN)
	$(GO) test -timeout $(TEST_TIMEOUT) -coverpkg=./... -coverprofile=$(BIN)/cover.out ./...
	$(GO) tool cover -func=$(BIN)/cover.out | tail -n 1
	$(GO) tool cover -html=$(BIN)/cover.out -o $(BIN)/cover.html

.PHONY: clean
clean: ## remove what make has built
	rm -rf $(BIN)

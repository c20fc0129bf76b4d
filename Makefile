GO ?= go
BIN := bin/memkernel
SAMPLE := testdata/session.jsonl

.PHONY: build test check bench demo replay test-race fuzz clean

build: ## build bin/memkernel
	$(GO) build -o $(BIN) ./cmd/memkernel

test: ## run all tests
	$(GO) test ./...

test-race: ## the same with the race detector (needs a C compiler)
	$(GO) test -race ./...

check: ## formatting, vet, tests
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these"; exit 1; }
	$(GO) vet ./...
	$(GO) test ./...

bench: ## the figures of the README, as ratios within one run
	$(GO) test -run '^$$' -bench . -benchmem ./...

fuzz: ## a minute of the tokenizer's differential fuzz
	$(GO) test -run '^$$' -fuzz FuzzO200kEqualsReference -fuzztime 60s ./budget

demo: build ## plan the bundled sample and explain the plan
	$(BIN) plan --transcript $(SAMPLE) --view full --context-window 128k \
	  --fixed-tokens 25000 --resolver memory_get --explain

replay: build ## replay the bundled sample under three policies
	$(BIN) replay --transcript $(SAMPLE) --context-window 128k --fixed-tokens 25000 \
	  --resolver memory_get

clean:
	rm -rf bin

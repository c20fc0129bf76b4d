GO ?= go
BIN := bin/memkernel
MKBENCH := bin/mkbench
SAMPLE := testdata/session.jsonl
WORKSPACE := testdata/workspace

# Only the module of this folder is released. The others find it by a replace.
MODULES := . service bench
# each runs a command of go with its arguments in every module, and fails if one failed.
each = status=0; for m in $(MODULES); do $(GO) $(1) -C $$m $(2) || status=1; done; exit $$status

.PHONY: check-all lint build mkbench test test-all test-long test-cgo test-postgres bench-peers check bench bench-scaling bench-retrieval bench-retrieval-cgo bench-paging bench-predict bench-memory bench-economics bench-economy plan-hashes search-hashes release rehearse test-release notice demo replay test-race fuzz mask-rules contract test-clients soak soak-machines kills test-mcp-inspector bench-retrieval-quality e2e bills test-frameworks test-ui picture-ui clean

build: ## build bin/memkernel
	$(GO) build -o $(BIN) ./cmd/memkernel

mkbench: ## build bin/mkbench, which measures
	$(GO) build -C bench -o $(CURDIR)/$(MKBENCH) ./cmd/mkbench

# doc/testing.md says what the two suites are and which parameters the long one has.
# A disk or a machine that is busy is no failure, hence the limit, of each package.
# Memory is spent in place of processor time, and the tests' programs are linked without
# symbols and tables for a debugger (-s), which takes a third less time for a large one. The property
# tests draw the same cases on every run here, and other ones in test-long.
test: ## run the root's tests, and vet (which builds) the other modules
	@export GOGC=400 RAPID_SEED=1; status=0; $(GO) test -ldflags=-s -timeout 30m ./... || status=1; \
	  for m in $(filter-out .,$(MODULES)); do $(GO) vet -C $$m ./... || status=1; done; exit $$status

test-all: ## run the tests of all modules
	@export GOGC=400 RAPID_SEED=1; $(call each,test,-timeout 30m ./...)

test-long: ## every claim whole: all kills, soaks, properties and recorded sessions, with real syncs
	@export MEMKERNEL_LONG=1; $(call each,test,-count=1 -timeout 6h ./...)

test-race: ## the quick suite with the race detector (needs a C compiler)
	@$(call each,test,-race -timeout 2h ./...)

# sqlite-vec's cgo package asks for <sqlite3.h>; the module that brings SQLite
# itself has it under another name.
CGO_DIR := $(CURDIR)/bin/cgo
CGO_TAGS := cgo_sqlite sqlite_fts5
CGO_BUILD := CGO_ENABLED=1 CGO_CFLAGS="-O2 -g '-I$(CGO_DIR)'" $(GO)

test-cgo: ## the index's tests with the cgo driver, and both drivers on one file (needs gcc)
	$(GO) mod download github.com/mattn/go-sqlite3
	mkdir -p $(CGO_DIR)
	cp -f "$$($(GO) list -m -f '{{.Dir}}' github.com/mattn/go-sqlite3)/sqlite3-binding.h" $(CGO_DIR)/sqlite3.h
	$(CGO_BUILD) vet -tags "$(CGO_TAGS)" ./index/...
	$(CGO_BUILD) test -c -tags "$(CGO_TAGS)" -o $(CGO_DIR)/mattn.test ./index
	$(GO) test -c -o $(CGO_DIR)/modernc.test ./index
	cd index && INDEX_TEST_OTHER=$(CGO_DIR)/modernc.test $(CGO_DIR)/mattn.test
	cd index && INDEX_TEST_OTHER=$(CGO_DIR)/mattn.test $(CGO_DIR)/modernc.test -test.run TestOtherDriver

# PGlite is PostgreSQL and pgvector as WebAssembly; npm installs it in a temporary
# folder. MEMKERNEL_POSTGRES_DSN names a server instead.
test-postgres: ## the database's tests, on PGlite from npm and on this machine's postgres
	MEMKERNEL_PGLITE=1 $(GO) test -C service -count=1 -timeout 20m ./pgindex ./internal/rows ./postgres
	$(GO) test -C service -count=1 ./pgindex ./internal/rows ./postgres

test-mcp-inspector: build ## the MCP server through the official inspector from npm, if there is one
	serve/tools/inspector.sh $(CURDIR)/$(BIN)

# MEMKERNEL_E2E_DIR names a folder that keeps what npm installs (the user's cache folder
# without it), MEMKERNEL_E2E_TURNS how many turns OpenClaw's long session has (50 without it).
# The versions are those of internal/e2e/versions.json and of the frameworks' manifests; with
# E2E_NEWEST=1 the hosts are the newest that npm has, and the page is left as it is.
e2e: ## every host and framework that can be had, on a fake model server, and the table of doc/hosts.md; npm installs them (3 GB)
	MEMKERNEL_E2E=1 MEMKERNEL_FRAMEWORKS=1 $(if $(E2E_NEWEST),,MEMKERNEL_E2E_TABLE=$(CURDIR)/doc/hosts.md) $(GO) test -count=1 -v -timeout 90m ./internal/e2e

# MEMKERNEL_E2E_LENGTHS=3,2,0 has fewer sessions of one, ten and sixty turns (10,6,4 without it).
bills: ## the bills of recorded sessions, in folder SESSIONS, for the newest hosts on their default models
	MEMKERNEL_E2E=1 E2E_NEWEST=1 MEMKERNEL_E2E_SESSIONS=$(SESSIONS) $(GO) test -count=1 -v -timeout 12h -run TestBills ./internal/e2e

# MEMKERNEL_E2E_DIR keeps what npm installed here, too.
test-frameworks: ## the packages for agent frameworks against the real ones, which npm installs (800 MB)
	MEMKERNEL_FRAMEWORKS=1 $(GO) test -count=1 -v -timeout 40m -run TestFrameworks ./internal/e2e

# Debian's package chromium is enough. AXE names axe-core's axe.min.js; npm gets it without.
test-ui: ## the window in a browser: every view, at three widths, to bin/ui; hostile sessions, other origins, axe
	mkdir -p bin/axe
	test -n "$(AXE)" || test -f bin/axe/package/axe.min.js || (cd bin/axe && npm pack axe-core@4.14.1 && tar xzf axe-core-*.tgz) || echo "axe-core can't be had: its test is passed over"
	axe="$(AXE)"; test -n "$$axe" || ! test -f bin/axe/package/axe.min.js || axe="$(CURDIR)/bin/axe/package/axe.min.js"; \
	  MEMKERNEL_UI=1 MEMKERNEL_UI_SHOTS=$(CURDIR)/bin/ui MEMKERNEL_AXE="$$axe" $(GO) test -C bench -count=1 -v -timeout 30m ./window

picture-ui: ## draw the pictures of doc/ui.md anew, from the bundled sample (needs a Chromium)
	mkdir -p doc/ui
	MEMKERNEL_UI=1 MEMKERNEL_UI_PICTURES=$(CURDIR)/doc/ui $(GO) test -C bench -count=1 -run TestPictures ./window

check: test-all ## formatting, vet, and what test-all does
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these"; exit 1; }
	@$(call each,vet,./...)

# staticcheck comes from the module proxy, at this version.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@2026.2.2
SYSTEMS := windows/amd64 darwin/arm64 linux/arm64

check-all: check test-race lint ## check, the race detector, staticcheck, builds for other systems
	@for s in $(SYSTEMS); do echo "build for $$s"; CGO_ENABLED=0 GOOS=$${s%/*} GOARCH=$${s#*/} $(GO) build ./... || exit 1; done
	@for s in $(SYSTEMS); do echo "vet for $$s"; CGO_ENABLED=0 GOOS=$${s%/*} GOARCH=$${s#*/} $(GO) vet ./... || exit 1; done

lint: ## staticcheck over all modules
	@$(call each,run,$(STATICCHECK) ./...)

bench: ## the figures of doc/figures.md, as ratios within one run
	@$(call each,test,-run '^$$' -bench . -benchmem ./...)

bench-scaling: ## turns through 1, 2 and 4 services and a PostgreSQL of this machine against in process, and growth over 10,000 sessions (doc/scaling.md)
	MEMKERNEL_BENCH_LARGE=1 $(GO) test -C service -run '^$$' -bench 'Scaling' -benchtime 60x -timeout 60m .

bench-retrieval: ## a search against bare FTS5 at 1k, 10k and 100k chunks, and memory
	MEMKERNEL_BENCH_SIZES=1000,10000,100000 $(GO) test -C bench -run '^$$' -bench 'Retrieval' -timeout 60m
	MEMKERNEL_BENCH_LARGE=1 $(GO) test -C bench -run '^$$' -bench 'Vectors' -benchtime 100x -timeout 60m

bench-retrieval-cgo: test-cgo ## the same with the cgo driver (needs gcc)
	MEMKERNEL_BENCH_SIZES=1000,10000,100000 $(CGO_BUILD) test -C bench -tags "$(CGO_TAGS)" -run '^$$' -bench 'Retrieval' -timeout 60m

# Question sets and workspaces outside the repository, if there are any.
LOCOMO := $(wildcard ../shared/data/retrieval/locomo-*)
WORKSPACES := $(wildcard ../shared/data/workspaces/*)

empty :=
comma := ,
GOLDEN_SETS := $(wildcard bench/relevance/testdata/languages/* ../shared/data/retrieval/*)

# SEALED=-sealed asks the questions and prompts that are kept from tuning.
bench-retrieval-quality: mkbench ## the tables of doc/retrieval.md
	$(GO) build -C bench -o $(CURDIR)/bin/golden ./golden && bin/golden $(SEALED) -set $(subst $(empty) $(empty),$(comma),$(GOLDEN_SETS))
	for set in $(WORKSPACES); do $(MKBENCH) eval --known-items --workspace $$set --state-dir bin/judged || exit 1; done
	for v in right noise adversarial constant foreign; do $(if $(LOCOMO),$(MKBENCH) eval $(addprefix --set ,$(LOCOMO)) --mode hybrid --vectors $$v || exit 1,:); done
	$(MKBENCH) eval --set testdata/workspace --questions testdata/questions.jsonl
	$(if $(LOCOMO),$(MKBENCH) eval $(addprefix --set ,$(LOCOMO)) --ablate)

contract: ## make doc/schema.json anew from Go's types, and the clients and openapi.json from it
	$(GO) run -C bench ./clients $(CURDIR)
	$(GO) test -C service -run TestSchemaIsCurrent ./cmd/memkernel-server -update

test-clients: ## the clients of integrations/ against the real program (needs node 20, python 3.9)
	MEMKERNEL_LONG=1 $(GO) test -count=1 -v -run TestClients ./cmd/memkernel
	$(GO) test -C service -count=1 -v -run TestClients ./cmd/memkernel-server

SOAK ?= 5m

soak: ## 64 sessions on one daemon for five minutes, or SOAK=90s: no lost commit, level memory
	MEMKERNEL_LONG=1 MEMKERNEL_SOAK=$(SOAK) $(GO) test -C bench -count=1 -v -timeout 0 -run 'TestSoak$$'

soak-machines: ## services over a primary and a standby, killed and paused for five minutes, or SOAK=90s: no turn lost or doubled
	MEMKERNEL_LONG=1 MEMKERNEL_SOAK=$(SOAK) $(GO) test -C service -count=1 -v -timeout 0 -run 'TestSoak$$' ./postgres

KILLED := $(CURDIR)/bin/killed

kills: ## kill -9 every verb, the daemon, the nightly run and the services' machines; one line says what was lost
	@mkdir -p bin && rm -f $(KILLED); export MEMKERNEL_LONG=1 MEMKERNEL_KILLED=$(KILLED) MEMKERNEL_SOAK=$(SOAK); status=0; \
	  $(GO) test -count=1 -timeout 6h -run Kill ./... | grep -v 'no test' || status=1; \
	  $(GO) test -count=1 -run 'TestSession$$' ./client || status=1; \
	  $(GO) test -C service -count=1 -timeout 6h -run 'TestSoak$$' ./postgres || status=1; \
	  awk '{k += $$2; l += $$3; d += $$4} END {printf "%d kills in %d tests: %d lost, %d doubled\n", k, NR, l, d}' $(KILLED); exit $$status

fuzz: ## a minute of the tokenizer's differential fuzz
	$(GO) test -run '^$$' -fuzz FuzzO200kEqualsReference -fuzztime 60s ./budget

# Recorded sessions, if there are any, are replayed as well.
SESSIONS := $(wildcard ../shared/data/transcripts/*/*.jsonl)

plan-hashes: ## what this build plans of all sessions, hashed, to bin/plan-hashes.txt; BEFORE=file compares
	mkdir -p bin
	$(GO) build -C bench -o $(CURDIR)/bin/hashes ./hashes
	bin/hashes $(if $(BEFORE),-against $(BEFORE),-o bin/plan-hashes.txt) plans $(SAMPLE) $(SESSIONS)

search-hashes: ## what this build finds in all sets, hashed, to bin/search-hashes.txt; BEFORE=file compares
	mkdir -p bin
	$(GO) build -C bench -o $(CURDIR)/bin/hashes ./hashes
	bin/hashes $(if $(BEFORE),-against $(BEFORE),-o bin/search-hashes.txt) -limit 150 searches bench/relevance/testdata/tiny $(wildcard bench/relevance/testdata/languages/*) $(SETS)

SETS := $(wildcard ../shared/data/retrieval/*)
bench-peers: ## bleve and an FTS5 table on the same questions
	$(GO) run -C bench ./peers -set $(subst $(empty) $(empty),$(comma),$(abspath $(SETS)))

bench-paging: mkbench ## the paging paper's tables, ours beside the paper's
	$(MKBENCH) paging $(addprefix --transcript ,$(SESSIONS))

bench-predict: mkbench ## recorded bills beside what was predicted of them
	$(MKBENCH) predict $(addprefix --transcript ,$(SAMPLE) $(SESSIONS))

# SEALED=-sealed judges the pairs and questions that are kept from making rules; FLAGS are
# others, such as "-draw 50".
bench-memory: ## what upkeep makes of workspaces in sixty nights, and of planted statements
	$(GO) build -C bench -o $(CURDIR)/bin/judge-memory ./memory && bin/judge-memory -whole $(SEALED) $(if $(SESSIONS),-sessions ../shared/data/transcripts) $(FLAGS)

# The sample alone where there are no recorded sessions.
bench-economy: mkbench ## what each choice of the setting economy costs and keeps; make bench-economics shows it
	$(MKBENCH) economics --economy $(addprefix --transcript ,$(or $(SESSIONS),$(SAMPLE))) --write bench/economics/testdata

bench-economics: mkbench ## the report that doc/economics.md sums up, to bin/economics, and the page's picture
	mkdir -p bin/economics
	$(MKBENCH) economics $(addprefix --transcript ,$(or $(SESSIONS),$(SAMPLE))) --write bin/economics
	cp -f bin/economics/economics.svg doc/

# The version is the tag of the commit; doc/release.md says what is made. SNAPSHOT=1 takes
# a tree with changes that are not committed.
release: ## what is published of a tag, to bin/release: archives, npm, wheels, extensions, formula, image, checksums
	$(GO) run -C bench ./release -root $(CURDIR) $(if $(SNAPSHOT),-snapshot)

rehearse: ## make a release of this tree for this machine, install each package into an empty home, and print a table (uses npm and python where they are)
	MEMKERNEL_REHEARSE=1 $(GO) test -C bench -count=1 -v -timeout 1h -run 'TestReleaseRehearsed' ./release

test-release: ## all tests of a release, with the rehearsal, for all six systems (20 minutes of processor time)
	MEMKERNEL_LONG=1 $(GO) test -C bench -count=1 -v -timeout 2h ./release

notice: ## make NOTICE and the pages' install parts anew, from the modules that are linked and the list of channels
	$(GO) test -C bench -count=1 -run 'TestNotice|TestPages' ./release -update

demo: build ## the tour: two questions to bundled notes, and one planned call of a bundled session
	$(BIN) demo

replay: build ## replay the bundled sample under three policies
	$(BIN) replay --transcript $(SAMPLE) --context-window 128k --fixed-tokens 25000 \
	  --resolver memory_get

# The rules for secrets are gitleaks', at the version that bench/maskgen names.
GITLEAKS := $(shell sed -n 's/^const Source = "\(.*\)"/\1/p' bench/maskgen/main.go)

mask-rules: ## make pagevm/mask/data/gitleaks.json anew
	dir=$$($(GO) mod download -json $(GITLEAKS) | sed -n 's/^.*"Dir": "\(.*\)".*$$/\1/p') && \
	  $(GO) run -C bench ./maskgen -in "$$dir/config/gitleaks.toml" && cp -f "$$dir/LICENSE" pagevm/mask/data/LICENSE && chmod 644 pagevm/mask/data/LICENSE

clean:
	rm -rf bin

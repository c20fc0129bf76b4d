package verbs

import (
	"maps"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/serve/proxy"
	"github.com/memkernel/memkernel/serve/ui"
)

// Documents returns a value of the Go type of every document, by the document's name. Documents are
// what memkernel prints with --json or passes to its window. A document with several forms has several
// types. make contract makes doc/schema.json from this table.
func Documents() map[string][]any {
	docs := map[string][]any{
		"memkernel/audit/v1":             {document.Health{}},
		"memkernel/check/v1":             {document.Check{}},
		"memkernel/compact/v1":           {boundaryJSON{}},
		"memkernel/config/v1":            {configJSON{}},
		"memkernel/curate/v1":            {document.Doc[*api.Curated]{}},
		"memkernel/doctor/v1":            {document.Health{}},
		"memkernel/edited/v1":            {document.Doc[*api.EntryEdited]{}},
		"memkernel/flush/v1":             {boundaryJSON{}},
		"memkernel/folders/v1":           {foldersJSON{}},
		"memkernel/forget/v1":            {document.Forget{}},
		"memkernel/forget_everywhere/v1": {document.Doc[*api.Everywhere]{}},
		"memkernel/gain/v1":              {document.Doc[*document.Saved]{}},
		"memkernel/get/v1":               {document.Get{}},
		"memkernel/guard/v1":             {document.Doc[*consolidation.Loss]{}},
		"memkernel/history/v1":           {document.Doc[*api.History]{}},
		"memkernel/import/v1":            {importJSON{}},
		"memkernel/init/v1":              {initJSON{}},
		"memkernel/list/v1":              {document.Doc[*api.MemoryList]{}},
		"memkernel/nightly/v1":           {nightlyJSON{}},
		"memkernel/observe/v1":           {observeJSON{}},
		"memkernel/plan/v1":              {planJSON{}},
		"memkernel/prices/v1":            {pricesJSON{}},
		"memkernel/proxy/v1":             {proxyJSON{}},
		"memkernel/proxy_status/v1":      {proxy.Status{}},
		"memkernel/prune/v1":             {document.Doc[*api.Pruned]{}},
		"memkernel/reindex/v1":           {document.Reindex{}},
		"memkernel/replay/v1":            {replay.Document{}, replayOneJSON{}},
		"memkernel/reset/v1":             {boundaryJSON{}},
		"memkernel/restore/v1":           {document.Restore{}},
		"memkernel/retain/v1":            {document.Doc[*api.Retained]{}},
		"memkernel/salvage/v1":           {document.Doc[*api.Salvaged]{}},
		"memkernel/search/v1":            {document.Search{}},
		"memkernel/stats/v1":             {document.Stats{}},
		"memkernel/status/v1":            {document.Doc[*api.Status]{}, statusJSON{}},
		"memkernel/trace/v1":             {decisionsJSON{}},
		"memkernel/undone/v1":            {document.Doc[*api.EditUndone]{}},
		"memkernel/uninstall/v1":         {uninstallJSON{}},
		"memkernel/version/v1":           {cli.Build()},
		"memkernel/why/v1":               {document.Doc[*api.Grounds]{}},
	}
	maps.Copy(docs, ui.Documents())
	return docs
}

package verbs

// Documents returns a value of the type of every document that only memkernel-server prints with
// --json, by the document's name. make contract makes doc/schema-server.json from this table.
func Documents() map[string][]any {
	return map[string][]any{
		"memkernel/migrate_memory/v1": {movedFiles{}},
		"memkernel/migrate_state/v1":  {movedState{}},
		"memkernel/token/v1":          {tokenJSON{}},
		"memkernel/tokens/v1":         {tokensJSON{}},
	}
}

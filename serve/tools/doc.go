// Package tools offers memory as tools that a model can call. It has the definitions of the tools
// in the formats of providers and hosts, one function that answers calls, and a server that offers
// the tools to any client of the Model Context Protocol.
//
//	client ── frames ──► sdk ──► Server ──► Set ──► kernel
//
//	memory_search   {query, maxResults?, minScore?, source?, scope?, lines?}   memory on a question, or lines of a path or an id
//	memory_get      {path, from?, lines?}                      lines that a search cited, or the content of an id in the prompt
//	memory_append   {text, path?}                              something worth keeping, through the journal
//	memory_list     {path?, maxResults?}                       the entries of memory, with their lines and authors
//	memory_update   {path, text, old? | version?, from?, lines?}  another text for a passage that was read
//	memory_delete   {path, old? | version?, from?, lines?}     a passage that was read taken out
//	memory_undo     {edit?}                                    such a change taken back
//
// A [Set] is bound to one session by its host. The session and whether it is private are never
// arguments. Arguments are checked strictly. An unknown or missing argument or an argument of the
// wrong kind is an error that names the allowed values. Everything else is an answer: a JSON object
// whose member reason is OK, NO_MATCH, DENIED, FORGOTTEN, BACKEND_ERROR, DISABLED, STALE_INDEX or
// INDEXING, and for memory_append also the code of a refusal, with the reason in words in detail.
// The tools that edit also answer CONFLICT, with the present text; PERSON, for text that a person
// wrote; SECRET, for a file that no backup may hold; and REFUSED. For a missing file the answer is
// empty text, and not a failure:
//
//	{"text":"","path":"memory/gone.md","reason":"NO_MATCH","detail":"there is no such file"}
//
// In addition, [Set.Memory] answers Anthropic's memory tool from the same files, by the same
// rules.
//
// Arguments and members of answers have the same names as in OpenClaw's tools of the same names,
// so that prompts written for OpenClaw's tools also work here. An answer's text is at most
// [maxText] bytes; nextFrom is the line from which to continue.
package tools

// Package tools is memory as tools that a model can call: their definitions, in the
// forms that providers and hosts take, and one function that answers.
//
//	memory_search   {query, maxResults?, minScore?, source?, lines?}   what memory holds on a question
//	memory_get      {path, from?, lines?}                      lines of what a search cited
//	page_expand     {id, from?, lines?}                        what a pointer in the prompt points to
//	memory_append   {text, path?}                              something worth keeping, through the journal
//	context_status  {}                                         the state of this session and its memory
//
// A [Set] is bound to one session by its host: whose it is, and whether it is
// private, are never arguments. Arguments are checked strictly; one that is unknown,
// missing or of the wrong kind is an [ArgumentError], which names what would do.
// Everything else is an answer: a JSON object whose member reason is OK, NO_MATCH,
// DENIED, FORGOTTEN, BACKEND_ERROR, DISABLED, STALE_INDEX or INDEXING, and for
// memory_append also the code of what refused it, with the reason in words in detail. What is not
// there is empty text, not a failure:
//
//	{"text":"","path":"memory/gone.md","reason":"NO_MATCH","detail":"there is no such file"}
//
// Names of arguments and of members in answers are those of OpenClaw's tools of the
// same names, so that prompts written for these do. An answer's text is at most
// [MaxText] bytes; nextFrom is where to go on.
package tools

// Package fakemodel is a model server for tests and trials: it speaks the Anthropic
// Messages API and OpenAI's chat completions and responses on loopback, answers by a
// script, and bills as a provider would.
//
// Honest bills are its point. A request is a row of segments (tools, system, content
// blocks, in the order in which a provider reads them). Segments that an earlier request
// left in the cache are read within their lifetime. The rest is written or not cached, by
// the rules that the providers document: Anthropic caches up to the
// cache_control markers and looks back 20 blocks from each, OpenAI caches the longest
// prefix of 1,024 tokens and more by itself, in steps of 128. A token is four bytes
// here, without a tokenizer.
//
// It keeps every request, so that a test can ask where two of them part
// ([Request.Parts]) and whether each tool call has its result ([Request.Pairs]). It
// never checks keys, and it knows no model.
package fakemodel

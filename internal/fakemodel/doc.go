// Package fakemodel is a model server for tests and trials. It serves the Anthropic Messages API,
// OpenAI's chat completions and responses, and Gemini's generateContent on loopback. It answers
// by a script, and bills as a provider would.
//
// Its purpose is realistic bills. A request is a sequence of segments: tools, system, content blocks,
// in the order in which a provider reads them. Leading segments that an earlier request left in the
// cache count as read until their lifetime ends. The other segments count as written or as uncached,
// by the rules that the providers document. Anthropic caches up to the cache_control markers and
// looks back 20 blocks from each marker. OpenAI automatically caches the longest prefix of at
// least 1,024 tokens, in steps of 128. There is no tokenizer: a token is four bytes.
//
// The server keeps every request, so that a test can check where two requests differ
// ([Request.Parts]) and whether each tool call has its result ([Request.Pairs]). It never checks
// keys and accepts any model name.
package fakemodel

// Package static makes vectors of texts in this process, from static embedding models: a table
// with one vector per token. The vector of a text is the mean of its tokens' vectors. They are
// read from a folder as Model2Vec publishes them:
//
//	model.safetensors  embeddings [rows, length]; weights [tokens] and mapping
//	                   [tokens] (token to row) in models with a shared table
//	tokenizer.json     text to tokens, in the format of Hugging Face's tokenizers
//	config.json        normalize; may be missing
//
//	text ── added tokens ── normalizer ── pre-tokenizer ── model ── token numbers
//	                                                                      │
//	vector ◄── length 1 (normalize) ◄── mean ◄── weight · row ◄── mapping ┘
//
// The vectors are those of model2vec's encode (github.com/MinishLab/model2vec): unknown tokens
// are left out where the tokenizer names one, and the first 512 of the others count. The known
// tokenizer models are WordPiece, WordLevel and Unigram, with the normalizers and pre-tokenizers
// that such models ship. Any other one, such as BPE, is refused and not guessed at.
//
// The table stays in its file, and only the rows of a text's tokens are read. All files are checked
// when a model is loaded. Errors name file and member. Nothing in them is trusted.
//
// Transformer encoders, as in ONNX files, are not loaded. The runtimes that carry them without
// cgo are parts of frameworks (GoMLX under hugot, some 30 direct imports and a compiler of
// graphs), or incomplete. Apart from their weight they are several times slower than the servers
// that users have for such models, which provider ollama or openai reaches on the same machine.
package static

// Package static makes vectors of texts in this process with static embedding models. Such a model is
// a table with a vector for each token. The vector of a text is the mean of its tokens' vectors. A
// model is a folder in the format of Model2Vec:
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
// The vectors equal those of model2vec's encode (github.com/MinishLab/model2vec). If the tokenizer
// names an unknown token, such tokens are left out. The first 512 of the others count. The package
// supports the tokenizer models WordPiece, WordLevel and Unigram, with the normalizers and
// pre-tokenizers of published models. It refuses all others, such as BPE.
//
// The table stays in its file, and only the rows of a text's tokens are read. All files are checked
// when a model is loaded. Errors name the file and the member.
//
// Transformer models, such as ONNX files, are not supported. The runtimes without cgo are incomplete or
// part of large frameworks (GoMLX in hugot needs some 30 direct imports and a graph compiler). They
// are also several times slower than a local server with such a model, which users can configure as
// provider ollama or openai.
package static

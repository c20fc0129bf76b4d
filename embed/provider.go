package embed

import "context"

// Provider makes vectors. It is safe for concurrent use.
type Provider interface {
	// Model names the model and every setting that changes its vectors. Vectors of equal names
	// can be compared.
	Model() string
	// EmbedQuery returns the vector of a question. If the question is too long, only its beginning is
	// embedded.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
	// EmbedDocuments returns the vectors of texts that questions are to find, in the order of the
	// texts. No text may be blank. If it returns an error, the result has the vectors of the
	// leading texts that were finished before the error.
	EmbedDocuments(ctx context.Context, texts []string) (Result, error)
}

// Result is the outcome for some texts.
type Result struct {
	// Vectors are the vectors of the leading texts, and of all texts if there was no error.
	Vectors [][]float32
	Usage
}

// Usage is the cost of vectors.
type Usage struct {
	// Requests counts the requests sent.
	Requests int
	// Tokens is the number of tokens that the server billed, or 0 if the server doesn't report
	// the number.
	Tokens int
}

func (u *Usage) add(v Usage) {
	u.Requests += v.Requests
	u.Tokens += v.Tokens
}

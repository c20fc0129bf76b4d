package embed

import "context"

// Provider makes vectors. It is safe for concurrent use.
type Provider interface {
	// Model names all that the vectors depend on: the model, and every setting that changes its
	// vectors. Vectors of equal names can be compared.
	Model() string
	// EmbedQuery gives the vector of a question. A question that is too long is
	// embedded by its beginning.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
	// EmbedDocuments gives the vectors of texts that questions are to find, in their order. None
	// may be blank. If it returns an error, the result has the vectors of the leading texts that
	// were done before it.
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
	// Requests counts the requests sent. Retries counts those of them that repeated a failed one.
	Requests, Retries int
	// Truncated texts were too long and embedded by their beginning.
	Truncated int
	// Tokens as the server billed them; 0 if it doesn't report them.
	Tokens int
}

func (u *Usage) add(v Usage) {
	u.Requests += v.Requests
	u.Retries += v.Retries
	u.Truncated += v.Truncated
	u.Tokens += v.Tokens
}

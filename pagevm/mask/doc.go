// Package mask replaces secrets in text by marks that name their rule, and lifts binary content
// out of text. A [Masker] holds the rules: those of this package, which are code, a table of
// token shapes adapted from gitleaks' (see data/LICENSE), and the user's exceptions. Masking a
// masked text changes nothing.
//
// Package mask never stores a secret or a hash of one, and reads no file and no network.
package mask

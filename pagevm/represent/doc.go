// Package represent makes the shorter representations of a page's content: compressed, structured
// and pointer. They are extracts, made without a model. Tool results, messages, bootstrap files,
// preferences and spans of a conversation each have their own form. [NewExcerpts] makes extracts
// of any size. [Change] returns what a file's new version changed.
//
// Package represent is pure: it reads no file and no clock, and counts no tokens.
package represent

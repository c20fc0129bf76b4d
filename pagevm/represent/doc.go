// Package represent makes the representations of pages: from the whole content the compressed,
// structured and pointer forms, each an extract of it, made without a model. Tool results,
// messages, bootstrap files, preferences and spans of a conversation each have
// their own form. An excerpts makes a text of any wanted size; [Change] returns the changes of
// a file's new version.
//
// Package represent is pure: it reads no file and no clock, and counts no tokens.
package represent

// Package toolcall determines what a tool call does, from its name and arguments alone: which paths
// it reads, edits or searches ([Classify], [Read]), what kind of act it is ([Act]), and what makes
// two calls or two results the same ([Canonical], [CanonicalResult]). Shell commands are read as
// far as their words are plain, and the scripts in which Codex calls tools as far as their
// arguments are literals ([Unwrap]).
//
// Package toolcall is pure, and never runs or checks anything that a call names.
package toolcall

// Package turns judges what memory adds to a user turn: to turns that have nothing to
// do with it, for which whatever is recalled costs tokens and misleads, and to questions
// that the workspace's own notes answer, which show what keeping quiet would lose.
//
// Each turn is planned by the kernel as the first words that matter of a session, with
// its defaults or what is configured. The prompts are the project's own (CC0), in twelve
// languages; half of them are sealed: they are for the end, and not for choosing by.
package turns

// Package budget counts tokens and divides a context window.
//
//   - [For] makes the [Counter] of a tokenizer and [Family] finds a model's.
//     OpenAI's vocabularies are counted exactly, from tables in the binary;
//     Claude's and Gemini's, which are not public, by estimators that know prose
//     from code and base64.
//   - [Overheads] is what a provider adds to the text: framing, tool prompts,
//     images.
//   - [Cache] keeps counts by content; [Anchor] starts from the last size that
//     the provider measured, so that only what is new is counted; [Calibration]
//     learns from such sizes how far the estimates are off, and how surely.
//   - [Split] divides a window among the regions of a prompt.
//
// Every [Count] names its kind: exact, calibrated or estimated. It has two
// numbers, the expected one, to show and to price, and a bound, which budgets
// use. Sizes are tokens unless a name has bytes.
//
// Text is any bytes. What is not UTF-8 counts as U+FFFD for each invalid byte,
// and special tokens such as <|endoftext|> count as the plain text they are
// written with. Time is linear in the size of the text, whatever it holds.
//
// Budget never calls a provider, opens a file, reads a clock or logs. The
// caller keeps calibrations. A counter that calls the provider is the caller's
// as well: it has to satisfy Counter, or be called in between.
package budget

// Package budget counts tokens.
//
//   - [For] makes the [Counter] of a tokenizer. OpenAI's vocabularies are counted exactly, from tables
//     in the binary. Claude's and Gemini's are not public. Their tokens are estimated, differently
//     for prose, code and base64.
//   - [Model] counts the parts of messages for a model, with the tokens that its provider adds to the
//     text: framing, tool prompts, images.
//   - [Cache] keeps counts by content. [Calibration] learns from a provider's bills the ratio of
//     real to estimated tokens, and how much that ratio varies.
//   - [Reserve] is the part of a window that stays free for the answer.
//
// Every [Count] names its kind: exact, calibrated or estimated. It has two numbers: the expected
// number for display and prices, and a bound for budgets. Sizes are tokens unless a name says
// bytes.
//
// Text is any bytes. Each invalid byte counts as U+FFFD, and special tokens such as <|endoftext|>
// count as the plain text that spells them. Time is linear in the size of the text.
//
// Package budget never calls a provider, opens a file, reads a clock or logs. The caller stores
// calibrations.
package budget

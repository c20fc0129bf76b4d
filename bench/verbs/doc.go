// Package verbs has the verbs of mkbench: what policies cost and show, what search finds, and
// the evaluation of the paging paper.
package verbs

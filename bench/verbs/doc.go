// Package verbs has the verbs of mkbench: costs and contents of context policies, quality of
// search, predictions of bills, and the evaluation of the paging paper. It measures nothing
// itself, and mkbench never changes a workspace.
package verbs

// Package verbs has the verbs of mkbench. They measure costs and contents of context policies,
// the quality of search and predictions of bills, and run the evaluation of the paging paper.
// Other packages do the measuring. mkbench never changes a workspace.
package verbs

// Package verbs has the verbs eval and predict of mkbench. They measure the quality of search, and
// predictions of bills. Other packages do the measuring. mkbench never changes a workspace.
package verbs

// Package verbs has the verb predict of mkbench. It compares recorded bills with the predictions of
// package cachelayout/predict, and changes nothing.
package verbs

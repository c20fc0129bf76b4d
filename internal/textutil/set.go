package textutil

import "strings"

// Set returns the words of a list that is separated by white space.
func Set(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

package budget

import "testing"

// What is said in every session is common, what names a thing is rare.
func TestRarity(t *testing.T) {
	for _, words := range [][]string{
		{"the", "check", "run", "status", "commit", "merge", "outbreak", "kubernetes"},
		{"test", "last", "comments", "yes", "kim", "ledger"},
		{"7", "42", "48813"},
		{"部", "改"},
		{"и", "порт", "паром"},
	} {
		for i := range words[1:] {
			if a, b := Rarity(words[i]), Rarity(words[i+1]); a > b || a < 0 || b > 1 {
				t.Errorf("%s is %.2f, %s %.2f", words[i], a, words[i+1], b)
			}
		}
	}
	for word, want := range map[string]float64{"": 0, "the": 0, "zebra-28": 1, "\xff\xfe": 1} {
		if got := Rarity(word); got != want {
			t.Errorf("%q is %.2f, want %.2f", word, got, want)
		}
	}
}

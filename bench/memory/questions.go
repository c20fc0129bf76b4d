package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

var (
	//go:embed testdata/questions-open.jsonl
	openQuestions []byte
	//go:embed testdata/questions-sealed.jsonl
	sealedQuestions []byte
)

// question is a question that a recorded session answers and whose answer is worth knowing later.
// Memory answers it if one entry holds every string of Gold, ignoring case.
type question struct {
	Session  string   `json:"session"`
	Question string   `json:"question"`
	Gold     []string `json:"gold"`
}

func questions(sealed bool) ([]question, error) {
	data := openQuestions
	if sealed {
		data = sealedQuestions
	}
	var out []question
	sc := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; sc.Scan(); n++ {
		var q question
		if err := json.Unmarshal(sc.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("questions:%d: %w", n, err)
		}
		out = append(out, q)
	}
	return out, sc.Err()
}

// answeredBy reports whether one of the entries holds the answer.
func (q *question) answeredBy(entries []string) bool {
	for _, e := range entries {
		if holds(e, q.Gold) {
			return true
		}
	}
	return false
}

func holds(text string, gold []string) bool {
	text = strings.ToLower(text)
	for _, g := range gold {
		if !strings.Contains(text, strings.ToLower(g)) {
			return false
		}
	}
	return true
}

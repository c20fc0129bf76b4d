package relevance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Set is a folder of memory with questions about it.
type Set struct {
	Name string
	Dir  string
	// Questions are the questions with evidence.
	Questions []Question
}

// Question is a question with the places of its answers.
type Question struct {
	ID       string     `json:"id"`
	Category string     `json:"category"`
	Text     string     `json:"question"`
	Evidence []Evidence `json:"evidence"`
}

// Evidence is a line that answers a question or helps to answer it.
type Evidence struct {
	// File is relative to the set's folder, with forward slashes.
	File string `json:"file"`
	// Line is 1-based. If EndLine is not 0, any line from Line to EndLine answers the question.
	Line    int `json:"line"`
	EndLine int `json:"end_line,omitempty"`
}

// maxRow is the longest row of qa.jsonl, in bytes.
const maxRow = 1 << 20 // 1 MiB

// Read reads the questions about the folder dir from the file at path. If a row has
// evidence_audited, it replaces evidence. A set without a question is an error, because judging
// it would give zeros that look like a result.
func Read(dir, path string) (Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return Set{}, fmt.Errorf("read questions: %w", err)
	}
	defer f.Close()
	set := Set{Name: filepath.Base(dir), Dir: dir}
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, maxRow)
	for n := 1; sc.Scan(); n++ {
		q, err := parse(sc.Bytes())
		if err != nil {
			return Set{}, fmt.Errorf("read questions: %s:%d: %w", path, n, err)
		}
		if len(q.Evidence) > 0 {
			set.Questions = append(set.Questions, q)
		}
	}
	if err := sc.Err(); err != nil {
		return Set{}, fmt.Errorf("read questions: %s: %w", path, err)
	}
	if len(set.Questions) == 0 {
		return Set{}, fmt.Errorf("read questions: %s: no row has a question with evidence", path)
	}
	return set, nil
}

func parse(row []byte) (Question, error) {
	if len(row) == 0 {
		return Question{}, nil
	}
	var q struct {
		Question
		Audited []Evidence `json:"evidence_audited"`
	}
	if err := json.Unmarshal(row, &q); err != nil {
		return Question{}, err
	}
	if len(q.Audited) > 0 {
		q.Evidence = q.Audited
	}
	return q.Question, nil
}

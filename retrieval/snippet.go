package retrieval

// MaxSnippet is the largest snippet, in characters.
const MaxSnippet = 700

// show cuts the hit's snippet.
func (h *Hit) show() {
	lines := linesOf(h)
	if sum(lines) > MaxSnippet {
		mark(lines, h.terms)
	}
	part := excerpt(trim(lines), MaxSnippet, h.terms)
	h.Snippet, h.SnippetStart, h.SnippetEnd = join(part), h.StartLine, h.EndLine
	if len(part) > 0 {
		h.SnippetStart, h.SnippetEnd = part[0].no, part[len(part)-1].no
	}
}

// trim drops the blank lines at both ends.
func trim(lines []line) []line {
	for len(lines) > 0 && lines[0].text == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1].text == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

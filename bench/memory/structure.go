package main

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

var commonMark = goldmark.New(goldmark.WithExtensions(extension.Table, extension.TaskList, extension.Strikethrough))

// blocks returns the innermost blocks of a text, in the order in which they are rendered. Each
// has the kinds of the blocks around it and its text.
func blocks(src string) []string {
	var out []string
	source := []byte(src)
	var walk func(n ast.Node, path string)
	walk = func(n ast.Node, path string) {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if c.Type() != ast.TypeBlock {
				continue
			}
			kind := c.Kind().String()
			switch b := c.(type) {
			case *ast.List:
				kind += fmt.Sprintf("%c%v", b.Marker, b.IsTight)
			case *ast.Heading:
				kind += fmt.Sprint(b.Level)
			}
			if first := c.FirstChild(); first != nil && first.Type() == ast.TypeBlock {
				walk(c, path+"/"+kind)
				continue
			}
			value := ""
			if ls := c.Lines(); ls != nil {
				value = strings.TrimRight(string(ls.Value(source)), "\r\n ")
			}
			out = append(out, path+"/"+kind+": "+value)
		}
	}
	walk(commonMark.Parser().Parse(text.NewReader(source)), "")
	return out
}

// changedBlocks returns the blocks of before whose words are still in after, but in another kind
// of block or in another order. Blocks whose words are missing are left out.
func changedBlocks(before, after string) []string {
	had, has := blocks(before), blocks(after)
	same := common(had, has)
	var out []string
	for i, b := range had {
		_, words, _ := strings.Cut(b, ": ")
		if !same[i] && words != "" && strings.Contains(after, words) {
			out = append(out, b)
		}
	}
	return out
}

// common reports which elements of a are in a longest common subsequence of a and b.
func common(a, b []string) []bool {
	long := make([][]int, len(a)+1)
	for i := range long {
		long[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				long[i][j] = long[i+1][j+1] + 1
			} else {
				long[i][j] = max(long[i+1][j], long[i][j+1])
			}
		}
	}
	out := make([]bool, len(a))
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			out[i] = true
			i, j = i+1, j+1
		case long[i+1][j] >= long[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

// gone returns the lines of before that after lacks or has less often. Blank lines do not count.
func gone(before, after string) []string {
	has := map[string]int{}
	for l := range strings.Lines(after) {
		has[strings.TrimRight(l, "\r\n")]++
	}
	var out []string
	for l := range strings.Lines(before) {
		l = strings.TrimRight(l, "\r\n")
		if has[l]--; has[l] < 0 && strings.TrimSpace(l) != "" {
			out = append(out, l)
		}
	}
	return out
}

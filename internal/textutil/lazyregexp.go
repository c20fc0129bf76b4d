package textutil

import (
	"regexp"
	"sync"
)

// Regexp is a [regexp.Regexp] that is compiled on first use, so that the program does not compile
// patterns that a run does not need. A wrong pattern panics on first use, and in CompileAll,
// which a test of the program calls. Several goroutines may use it at once.
type Regexp struct{ get func() *regexp.Regexp }

var (
	mu   sync.Mutex
	lazy []*Regexp
)

// LazyRegexp keeps a pattern for [regexp.MustCompile]. Use it only for package variables, because
// the result is never freed.
func LazyRegexp(pattern string) *Regexp {
	r := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })}
	mu.Lock()
	defer mu.Unlock()
	lazy = append(lazy, r)
	return r
}

// CompileAll compiles the patterns of all packages of the program and returns their number. It
// panics if a pattern is wrong.
func CompileAll() int {
	mu.Lock()
	defer mu.Unlock()
	for _, r := range lazy {
		r.get()
	}
	return len(lazy)
}

// The methods do the same as the methods of [regexp.Regexp].

func (r *Regexp) MatchString(s string) bool              { return r.get().MatchString(s) }
func (r *Regexp) FindString(s string) string             { return r.get().FindString(s) }
func (r *Regexp) FindStringIndex(s string) []int         { return r.get().FindStringIndex(s) }
func (r *Regexp) FindStringSubmatch(s string) []string   { return r.get().FindStringSubmatch(s) }
func (r *Regexp) FindStringSubmatchIndex(s string) []int { return r.get().FindStringSubmatchIndex(s) }
func (r *Regexp) FindSubmatch(b []byte) [][]byte         { return r.get().FindSubmatch(b) }
func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }
func (r *Regexp) ReplaceAllString(s, with string) string { return r.get().ReplaceAllString(s, with) }
func (r *Regexp) ReplaceAllStringFunc(s string, f func(string) string) string {
	return r.get().ReplaceAllStringFunc(s, f)
}
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

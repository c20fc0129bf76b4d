// Package lazyregexp holds regular expressions that are compiled when they are first
// used, so that a program that starts for one question pays for nothing else. It never
// reports a pattern that is wrong: its first use panics, and so does CompileAll, which a
// test of the program calls.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a [regexp.Regexp] that is compiled by its first use. It may be used by
// several goroutines at once.
type Regexp struct{ get func() *regexp.Regexp }

var (
	mu  sync.Mutex
	all []*Regexp
)

// New keeps a pattern for [regexp.MustCompile]. It is for variables of packages: what it
// makes is kept as long as the process lasts.
func New(pattern string) *Regexp {
	r := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })}
	mu.Lock()
	defer mu.Unlock()
	all = append(all, r)
	return r
}

// CompileAll compiles what all packages of the program have, and returns how many there
// are. One that is wrong panics.
func CompileAll() int {
	mu.Lock()
	defer mu.Unlock()
	for _, r := range all {
		r.get()
	}
	return len(all)
}

// The methods are those of [regexp.Regexp].

func (r *Regexp) MatchString(s string) bool              { return r.get().MatchString(s) }
func (r *Regexp) FindString(s string) string             { return r.get().FindString(s) }
func (r *Regexp) FindStringIndex(s string) []int         { return r.get().FindStringIndex(s) }
func (r *Regexp) FindStringSubmatch(s string) []string   { return r.get().FindStringSubmatch(s) }
func (r *Regexp) FindStringSubmatchIndex(s string) []int { return r.get().FindStringSubmatchIndex(s) }
func (r *Regexp) FindSubmatch(b []byte) [][]byte         { return r.get().FindSubmatch(b) }
func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }
func (r *Regexp) ReplaceAllString(s, with string) string { return r.get().ReplaceAllString(s, with) }
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

package toolcall

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// shellCall understands the few shapes in which agents read and write files by
// shell: "cat f", "sed -n '1,80p' f", "head -50 f", "nl -ba f | sed ...",
// "cd dir && cat f", "cat > f <<EOF", "sed -i ... f", "rm f", and a patch fed
// to apply_patch. Anything else is CallOther.
func shellCall(cmd, dir string, cmds []simpleCommand) (kind, []string) {
	if strings.Contains(cmd, "*** Begin Patch") {
		if ps := patchPaths(cmd); len(ps) > 0 {
			return CallEdit, ps
		}
	}
	var read []string
	for _, simple := range cmds {
		w := simple.words
		if len(w) == 0 {
			continue
		}
		if w[0] == "cd" && len(w) == 2 {
			dir = cleanPath(w[1], dir)
			continue
		}
		if k, ps := simpleCall(simple, dir); k == CallEdit {
			return k, ps
		} else if k == CallRead && !simple.may {
			read = append(read, ps...)
		}
	}
	if len(read) > 0 {
		return CallRead, read
	}
	return CallOther, nil
}

// shellCommand returns the command line and the working directory of a shell call. An input that
// is not JSON is the command line itself.
func shellCommand(input string) (cmd, dir string) {
	if m := ArgsOf(input); m != nil {
		return m.Command()
	}
	return input, ""
}

// Command returns the command line and the working directory that the arguments of a shell call
// hold. The command is a string, or an argument vector such as ["bash","-lc","cat f"].
func (m Args) Command() (cmd, dir string) {
	dir = cmp.Or(lex.RawString(m.Get("workdir")), lex.RawString(m.Get("cwd")))
	for _, k := range [...]string{"command", "cmd", "script", "commands"} {
		raw := m.Get(k)
		if s := lex.RawString(raw); s != "" {
			return s, dir
		}
		if !strings.HasPrefix(raw, "[") {
			continue
		}
		var argv []string
		if json.Unmarshal([]byte(raw), &argv) == nil && len(argv) > 0 {
			if k == "commands" {
				return strings.Join(argv, "\n"), dir
			}
			if len(argv) >= 3 && strings.HasPrefix(argv[1], "-") && strings.HasSuffix(argv[0], "sh") {
				return argv[len(argv)-1], dir
			}
			for i := range argv {
				if strings.ContainsAny(argv[i], " \t\n'\"\\|&;<>()$`*?#~") {
					argv[i] = "'" + strings.ReplaceAll(argv[i], "'", `'\''`) + "'"
				}
			}
			return strings.Join(argv, " "), dir
		}
	}
	return "", dir
}

// simpleCommand is one command of a line, with its words unquoted.
type simpleCommand struct {
	words []string
	out   []string // targets of > and >>
	piped bool     // reads another command's output
	may   bool     // runs only if the command before it failed
}

// fileCommands are the commands that simpleCall knows.
var fileCommands = textutil.Set("cat head tail nl bat less more type Get-Content sed tee rm touch truncate unlink mv cp")

// simpleCall classifies one command.
func simpleCall(c simpleCommand, dir string) (kind, []string) {
	for _, o := range c.out {
		if !strings.HasPrefix(o, "/dev/") && !strings.HasPrefix(o, "&") {
			return CallEdit, []string{cleanPath(o, dir)}
		}
	}
	if !fileCommands[c.words[0]] {
		return CallOther, nil
	}
	files := operands(c.words)
	for i := range files {
		files[i] = cleanPath(files[i], dir)
	}
	switch c.words[0] {
	case "cat", "head", "tail", "nl", "bat", "less", "more", "type", "Get-Content":
		if len(files) > 0 && !c.piped {
			return CallRead, files
		}
	case "sed":
		const script = 1
		switch edits := slices.ContainsFunc(c.words[1:], func(w string) bool { return strings.HasPrefix(w, "-i") }); {
		case len(files) <= script:
		case edits:
			return CallEdit, files[script:]
		case !c.piped:
			return CallRead, files[script:]
		}
	case "tee", "rm", "touch", "truncate", "unlink":
		if len(files) > 0 {
			return CallEdit, files
		}
	case "mv", "cp":
		if len(files) > 1 {
			return CallEdit, files
		}
	}
	return CallOther, nil
}

// operands returns a command's words that are not options. The values of head's and tail's -n and
// -c are skipped.
func operands(words []string) (ops []string) {
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-n" && words[0] != "sed" && words[0] != "cat", w == "-c" && words[0] != "sed":
			i++
		case w == "-" || w == "" || w[0] == '-':
		default:
			ops = append(ops, w)
		}
	}
	return ops
}

// shellBytes is the number of bytes of a command line that are parsed. A larger command line
// contains data.
const shellBytes = 64 << 10

// parseShell splits a command line into commands at ; && || | and line breaks, unquotes the words,
// and removes redirections. It stops at syntax that it doesn't understand (substitutions, here
// documents). The words before that syntax still count. whole reports whether parseShell understood
// the line to its end.
func parseShell(line string) (cmds []simpleCommand, whole bool) {
	var cur simpleCommand
	word, inWord := "", false
	target := false // the word is the target of a redirection
	add := func(s string) {
		if inWord {
			s = word + s
		}
		word, inWord = s, true
	}
	endWord := func() {
		switch {
		case !inWord:
			return
		case target:
			cur.out = append(cur.out, word)
		default:
			if cur.words == nil {
				cur.words = make([]string, 0, 8) // most commands have fewer words
			}
			cur.words = append(cur.words, word)
		}
		word, inWord, target = "", false, false
	}
	endCommand := func(next simpleCommand) {
		if endWord(); len(cur.words) > 0 {
			cmds = append(cmds, cur)
		}
		cur, target = next, false
	}
	for rest := line[:min(len(line), shellBytes)]; rest != ""; {
		n := 1 // the bytes that are read
		switch c := rest[0]; c {
		case ' ', '\t':
			endWord()
		case '\'', '"':
			if n = strings.IndexByte(rest[1:], c) + 2; n < 2 {
				return cmds, false
			}
			add(rest[1 : n-1])
		case '\\':
			n = min(2, len(rest))
			if s := rest[1:n]; s != "" && s != "\n" {
				add(s)
			}
		case '$', '`', '(', '{': // the expansion is unknown
			return cmds, false
		case '<':
			if strings.HasPrefix(rest, "<<") { // the rest is a document
				endCommand(simpleCommand{})
				return cmds, false
			}
			add("<")
		case '>': // also ">>", "2>" and "2>&1"
			if word != "" && strings.Trim(word, "0123456789") == "" {
				word, inWord = "", false
			}
			endWord()
			n = len(rest) - len(strings.TrimLeft(rest, ">"))
			if target = !strings.HasPrefix(rest[n:], "&"); !target {
				n += 1 + before(rest[n+1:], " \n;|&")
			}
		case '\n':
			if endWord(); len(cur.words) > 0 { // a pipe or || goes on in the next line
				endCommand(simpleCommand{})
			}
		case ';', '&':
			endCommand(simpleCommand{})
		case '|':
			if strings.HasPrefix(rest, "||") {
				n = 2
			}
			endCommand(simpleCommand{piped: n == 1, may: n == 2})
		default:
			n = before(rest, " \t'\"\\$`({<>;\n&|")
			add(rest[:n])
		}
		rest = rest[n:]
	}
	endCommand(simpleCommand{})
	return cmds, len(line) <= shellBytes
}

// before returns the length of s up to the first of the characters in chars.
func before(s, chars string) int {
	if n := strings.IndexAny(s, chars); n >= 0 {
		return n
	}
	return len(s)
}

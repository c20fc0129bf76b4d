package toolcall

import (
	"cmp"
	"encoding/json"
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
		} else if k == CallRead {
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
		script := 1
		for _, w := range c.words[1:] {
			if strings.HasPrefix(w, "-i") {
				if len(files) > script {
					return CallEdit, files[script:]
				}
				return CallOther, nil
			}
		}
		if len(files) > script && !c.piped {
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

// parseShell parts a command line at ; && || | and line breaks, unquotes the words, and takes
// redirections out. It stops at syntax that it doesn't understand (substitutions, here
// documents). The words before that syntax still count. whole reports whether parseShell
// understood the line to its end.
func parseShell(line string) (cmds []simpleCommand, whole bool) {
	x := shellLexer{line: line[:min(len(line), shellBytes)]}
	whole = true
	for whole && x.i < len(x.line) {
		whole = x.step()
	}
	if !x.lost {
		x.endCommand(false)
	}
	return x.cmds, whole && !x.lost && len(line) <= shellBytes
}

type shellLexer struct {
	line   string
	i      int
	cmds   []simpleCommand
	cur    simpleCommand
	word   string
	inWord bool
	target bool // the word is the target of a redirection
	lost   bool // the current command can't be understood
}

// special are the characters that end a run of plain characters.
const special = " \t'\"\\$`({<>;\n&|"

// add adds s, a part of the line, to the current word.
func (x *shellLexer) add(s string) {
	if x.inWord {
		s = x.word + s
	}
	x.word, x.inWord = s, true
}

// step reads one run of plain characters, one special character or one quoted string. It returns
// false to end the line early.
func (x *shellLexer) step() bool {
	c := x.line[x.i]
	x.i++
	switch c {
	case ' ', '\t':
		x.endWord()
	case '\'', '"':
		n := strings.IndexByte(x.line[x.i:], c)
		if n < 0 {
			x.lost = true
			return false
		}
		x.add(x.line[x.i : x.i+n])
		x.i += n + 1
	case '\\':
		if x.i < len(x.line) && x.line[x.i] != '\n' {
			x.add(x.line[x.i : x.i+1])
		}
		x.i++
	case '$', '`', '(', '{': // the expansion is unknown
		x.lost = true
		return false
	case '<':
		if strings.HasPrefix(x.line[x.i:], "<") {
			return false // the rest is a document
		}
		x.add("<")
	case '>':
		x.redirect()
	case ';', '\n', '&':
		x.endCommand(false)
	case '|':
		x.endCommand(!strings.HasPrefix(x.line[x.i:], "|"))
	default:
		from := x.i - 1
		if n := strings.IndexAny(x.line[x.i:], special); n >= 0 {
			x.i += n
		} else {
			x.i = len(x.line)
		}
		x.add(x.line[from:x.i])
	}
	return true
}

// redirect handles ">", ">>", "2>" and "2>&1"; the target is the next word.
func (x *shellLexer) redirect() {
	if x.word != "" && strings.Trim(x.word, "0123456789") == "" {
		x.word, x.inWord = "", false
	}
	x.endWord()
	rest := strings.TrimLeft(x.line[x.i:], ">")
	x.i = len(x.line) - len(rest)
	if !strings.HasPrefix(rest, "&") {
		x.target = true
		return
	}
	if n := strings.IndexAny(rest[1:], " \n;|&"); n >= 0 {
		x.i += n + 1
	} else {
		x.i = len(x.line)
	}
}

func (x *shellLexer) endWord() {
	if !x.inWord {
		return
	}
	if x.target {
		x.cur.out = append(x.cur.out, x.word)
	} else {
		if x.cur.words == nil {
			x.cur.words = make([]string, 0, 8)
		}
		x.cur.words = append(x.cur.words, x.word)
	}
	x.word, x.inWord, x.target = "", false, false
}

// endCommand closes the current command; the next one reads its output if
// pipe is set.
func (x *shellLexer) endCommand(pipe bool) {
	x.endWord()
	if len(x.cur.words) > 0 {
		if x.cmds == nil {
			x.cmds = make([]simpleCommand, 0, 4)
		}
		x.cmds = append(x.cmds, x.cur)
	}
	x.cur = simpleCommand{piped: pipe}
}

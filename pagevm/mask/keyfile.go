package mask

import (
	"encoding/base64"
	"encoding/csv"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// keyBase64 finds base64 of private keys and of JSON with secrets in it, on one line or
// broken into lines.
func keyBase64(s string) [][2]int {
	return base64At(s, textBegin, func(run string) bool {
		flat := strings.TrimRight(unbreak.Replace(run), "=")
		text, _ := base64.RawStdEncoding.DecodeString(flat[:len(flat)&^3])
		return strings.Contains(string(text), "PRIVATE KEY") || secretInJSON.MatchString(string(text))
	})
}

// keyBodies finds the base64 that keyHead begins.
func keyBodies(s string) [][2]int {
	return base64At(s, keyHead, func(run string) bool { return len(run) >= 60 })
}

// base64At finds the base64 that begins with head and that is accepted.
func base64At(s string, head *textutil.Regexp, accept func(run string) bool) (out [][2]int) {
	for _, at := range head.FindAllStringSubmatchIndex(s, -1) {
		from := at[0]
		if from > 0 && base64Byte(s[from-1]) && s[from-1] != '=' || len(out) > 0 && from < out[len(out)-1][1] {
			continue
		}
		if end := payloadEnd(s, from); accept(s[from:end]) {
			out = append(out, [2]int{from, end})
		}
	}
	return out
}

var (
	// textBegin begins base64 of a key with its PEM line, and of a JSON object.
	textBegin = textutil.LazyRegexp(`LS0tLS1CRU|ewo|eyJ`)
	// keyHead begins base64 of private keys without a PEM line, of PKCS #12 files and of keys
	// of minisign.
	keyHead = textutil.LazyRegexp(`MII[A-Za-z0-9+/]{2}(?:[AQgw]IBADANBgkqhkiG9w0BAQEFAASC|[AQgw]IBAAK|[AQgw]IBAzCC)|MHcCAQEEI|MIG[A-Za-z0-9+/]AgEAMB[AM]GBy|MC4CAQAwBQYDK2Vw|b3BlbnNzaC1rZXktdjE|RWRTY0Iy`)
)

var secretInJSON = textutil.LazyRegexp(`"[\w-]*(?i:key|secret|token|passw\w*)"[ ]*:[ ]*"[^"]{16,}`)

// keyTail matches the last lines of a private key.
var keyTail = textutil.LazyRegexp(`(?m)^((?:[ \t\r>|+]*[A-Za-z0-9+/=]{4,}[ \t\r>|+]*\n)*).*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)

// keyTails finds the lines of private keys whose first lines are missing, as in the output of the
// command tail.
func keyTails(s string) (out [][2]int) {
	for _, at := range keyTail.FindAllStringSubmatchIndex(s, -1) {
		if lines := s[at[2]:at[3]]; nextRun(lines, 0, 32, &base64Set) < len(lines) {
			out = append(out, [2]int{at[0], at[1]})
		}
	}
	return out
}

func lineStart(s string, i int) int { return strings.LastIndexByte(s[:i], '\n') + 1 }

// passwordColumns finds the values below columns of secrets: in the CSV that browsers and
// password managers export, and in tables.
func passwordColumns(s string) (out [][2]int) {
	var columns []string // names of the columns to the last one of secrets, "" for other columns
	sep := ','
	at, above := 0, 0 // above counts the bars in the line before
	for line := range strings.Lines(s) {
		if strings.Trim(line, "-+|=: \r\n") == "" {
			at += len(line)
			continue
		}
		var fields []string
		if len(columns) > 0 {
			fields = cells(line, sep)
		}
		if len(columns) == 0 || len(fields) < len(columns) {
			columns, sep = nil, ','
			if strings.Count(line, "|") > 1 {
				sep = '|'
			} else if strings.Count(line, "\t") > 1 {
				sep = '\t'
			}
			if above < 2 {
				columns = secretColumns(line, sep)
			}
		} else {
			from, to := 0, 0
			for k, name := range columns {
				f := strings.TrimSpace(fields[k])
				if from = strings.Index(line[to:], f) + to; from < to {
					break // the cell's quotes are doubled
				}
				to = from + len(f)
				if len(f) >= 4 && (strings.Contains(name, "pass") || name != "" && digits(f) > 3 && strings.IndexByte(f, ' ') < 0) {
					out = append(out, [2]int{at + from, at + to})
				}
			}
		}
		at += len(line)
		above = strings.Count(line, "|")
	}
	return out
}

var secretColumn = textutil.LazyRegexp(`^(?:(?:login_)?pass(?:w(?:or)?d)?|passwort|passord|secret|(?:api_?|access_|auth_)?(?:token|key)|pin)$`)

// secretColumns returns the names of a table's columns up to the last column with secrets, if line
// is the table's header. Columns without secrets have the name "".
func secretColumns(line string, sep rune) (names []string) {
	line = strings.ToLower(line)
	if strings.Contains(line, "(") || sep == '\t' && !strings.Contains(line, "passw") || !isSecretName(line) {
		return nil
	}
	last := 0
	for i, f := range cells(line, sep) {
		if f = strings.TrimSpace(f); secretColumn.MatchString(f) {
			last = i + 1
		} else {
			f = ""
		}
		names = append(names, f)
	}
	return names[:last]
}

func cells(line string, sep rune) []string {
	if sep != ',' {
		return strings.Split(line, string(sep))
	}
	r := csv.NewReader(strings.NewReader(line))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	fields, err := r.Read()
	if err != nil || len(fields) < 3 {
		return nil
	}
	return fields
}

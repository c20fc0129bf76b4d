package config

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	// Names of zones must work on machines without a zone database.
	_ "time/tzdata"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/textutil"
)

// kind is the data that all settings of one Go type share.
type kind struct {
	// noun names the values. unit is the unit of a number.
	noun, unit string
	// tags are the YAML types that are read.
	tags []string
}

var (
	text    = []string{"!!str"}
	counted = []string{"!!str", "!!int", "!!float"}
)

// kinds has all types that a setting may have.
var kinds = map[reflect.Type]kind{
	reflect.TypeFor[string]():              {"text", "", text},
	reflect.TypeFor[bool]():                {"true or false", "", []string{"!!bool"}},
	reflect.TypeFor[int]():                 {"whole number", "", []string{"!!int"}},
	reflect.TypeFor[float64]():             {"number", "", []string{"!!int", "!!float"}},
	reflect.TypeFor[Tokens]():              {"tokens", "tokens", counted},
	reflect.TypeFor[cachelayout.Economy](): {"save, balanced, keep or a number from 0 to 1", "", counted},
	reflect.TypeFor[Size]():                {"size", "bytes", counted},
	reflect.TypeFor[Duration]():            {"duration", "seconds", counted},
	reflect.TypeFor[filePath]():            {"file", "", text},
	reflect.TypeFor[address]():             {"URL", "", text},
	reflect.TypeFor[envName]():             {"name of a variable", "", text},
	reflect.TypeFor[dsn]():                 {"DSN", "", text},
	reflect.TypeFor[zone]():                {"time zone", "", text},
	reflect.TypeFor[[]string]():            {"list of text", "", text},
}

func kindOf(v reflect.Value) kind { return kinds[v.Type()] }

// setter is implemented by pointers to the types of this package.
type setter interface{ Set(string) error }

// parse gives v the value that a text spells.
func parse(v reflect.Value, s string) error {
	switch p := v.Addr().Interface().(type) {
	case setter:
		return p.Set(s)
	case *string:
		*p = s
	case *filePath:
		*p = filePath(s)
	case *[]string:
		*p = strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
	case *bool:
		*p = strings.EqualFold(s, "true")
		if !*p && !strings.EqualFold(s, "false") {
			return fmt.Errorf("%q is not true or false", s)
		}
	case *int:
		n, err := strconv.Atoi(strings.ReplaceAll(s, "_", ""))
		if err != nil || n > math.MaxInt32 || n < math.MinInt32 {
			return fmt.Errorf("%q is not a whole number such as 24", s)
		}
		*p = n
	case *float64:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%q is not a number such as 0.7", s)
		}
		*p = f
	default:
		return fmt.Errorf("a setting can't be a %s", v.Type())
	}
	return nil
}

// format spells v so that parse reads it.
func format(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case fmt.Stringer:
		return x.String()
	case []string:
		return strings.Join(x, ",")
	}
	return fmt.Sprint(v.Interface())
}

// plain returns v without the types of this package.
func plain(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case Duration:
		return time.Duration(x).Seconds()
	case []string:
		return append([]string{}, x...)
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Int, reflect.Int64:
		return v.Int()
	}
	return v.Interface()
}

// number returns v for comparison. Only numbers have a range.
func number(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

// isEmpty reports whether v is "", 0 or [].
func isEmpty(v reflect.Value) bool {
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}

// Duration is a span of time, spelled 30d, 12h, 1d12h or 500ms. A day is always 24 hours. It is
// never negative.
type Duration time.Duration

const day = 24 * time.Hour

// Set reads days, followed by a span in the form of time.ParseDuration.
func (d *Duration) Set(s string) error {
	days, rest, hasDays := strings.Cut(s, "d")
	if !hasDays {
		days, rest = "0", s
	}
	// 16 bits of days are 179 years, which nanoseconds can hold.
	n, err := strconv.ParseUint(days, 10, 16)
	var span time.Duration
	if err == nil && (rest != "" || !hasDays) {
		span, err = time.ParseDuration(rest)
	}
	total := time.Duration(n)*day + span
	if err != nil || span < 0 || total < 0 {
		return fmt.Errorf("%q is not a duration such as 30d, 12h, 1d12h or 500ms", s)
	}
	*d = Duration(total)
	return nil
}

// String returns the spelling without parts that are zero at its end.
func (d Duration) String() string {
	days, rest := time.Duration(d)/day, time.Duration(d)%day
	s := rest.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	switch {
	case days <= 0:
		return s
	case rest == 0:
		return fmt.Sprintf("%dd", days)
	}
	return fmt.Sprintf("%dd%s", days, s)
}

// Size is a number of bytes, spelled 32MiB or 32MB. Units with an i are powers of 1024. Units
// without an i are powers of 1000.
type Size int64

// maxSize is the largest size. Up to maxSize, floating-point numbers are exact too.
const maxSize = 1 << 53

var sizeScales = []scale{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"", 1}, {"B", 1}}

// Set reads a number of bytes with an optional unit.
func (n *Size) Set(s string) error {
	v, ok := parseScaled(s, sizeScales, maxSize)
	if !ok {
		return fmt.Errorf("%q is not a size such as 32MiB, 32MB or 500KB", s)
	}
	*n = Size(v)
	return nil
}

// String returns an exact spelling in a unit that divides it.
func (n Size) String() string { return formatScaled(int64(n), sizeScales) }

// Tokens is a number of tokens, spelled 200000, 200k or 1m. It is also a flag of
// the command line.
type Tokens int

var tokenScales = []scale{{"m", 1_000_000}, {"k", 1000}, {"", 1}}

// Set reads a number with an optional k (thousand) or m (million).
func (n *Tokens) Set(s string) error {
	v, ok := parseScaled(s, tokenScales, math.MaxInt32)
	if !ok {
		return fmt.Errorf("%q is not a number of tokens such as 200000, 200k or 1m", s)
	}
	*n = Tokens(v)
	return nil
}

// String returns the shortest spelling.
func (n Tokens) String() string { return formatScaled(int64(n), tokenScales) }

// Type names the kind of value in the help of a flag.
func (n Tokens) Type() string { return "tokens" }

// zone is a time zone by its IANA name, such as Europe/Berlin, or local for the
// machine's.
type zone string

// Set checks that the zone is known.
func (z *zone) Set(s string) error {
	if strings.EqualFold(s, "local") {
		*z = "local"
		return nil
	}
	if _, err := time.LoadLocation(s); err != nil || s == "" {
		return fmt.Errorf("%q is not a time zone such as Europe/Berlin, UTC or local", s)
	}
	*z = zone(s)
	return nil
}

// Location returns the zone itself, or the machine's zone for local and for a name that Set would
// refuse.
func (z zone) Location() *time.Location {
	if z == "local" || z == "" {
		return time.Local
	}
	if loc, err := time.LoadLocation(string(z)); err == nil {
		return loc
	}
	return time.Local
}

// scale is a unit that may follow a number.
type scale struct {
	unit   string
	factor int64
}

var scaledForm = textutil.LazyRegexp(`^([0-9][0-9_]{0,30}(?:\.[0-9]{1,30})?) ?([a-zA-Z]*)$`)

// parseScaled reads a decimal number followed by a unit in upper or lower case. The product must
// be a whole number of at most limit. Fractions are exact.
func parseScaled(s string, scales []scale, limit int64) (int64, bool) {
	m := scaledForm.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, false
	}
	for _, sc := range scales {
		if !strings.EqualFold(sc.unit, m[2]) {
			continue
		}
		n, ok := new(big.Rat).SetString(strings.ReplaceAll(m[1], "_", ""))
		if !ok {
			return 0, false
		}
		n.Mul(n, new(big.Rat).SetInt64(sc.factor))
		if !n.IsInt() || n.Cmp(new(big.Rat).SetInt64(limit)) > 0 {
			return 0, false
		}
		return n.Num().Int64(), true
	}
	return 0, false
}

// formatScaled spells n with the first unit that divides it.
func formatScaled(n int64, scales []scale) string {
	for _, sc := range scales {
		if n != 0 && n%sc.factor == 0 {
			return fmt.Sprintf("%d%s", n/sc.factor, sc.unit)
		}
	}
	return fmt.Sprint(n)
}

// filePath is a file. In a configuration file it is relative to that file's folder. [Config.Over] sets it
// relative to the current folder, or absolute.
type filePath string

// address is an http or https address without user and password.
type address string

// Set checks the address. Its error doesn't repeat the address, because an address may hold a
// secret.
func (a *address) Set(s string) error {
	parsed, err := url.Parse(s)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Hostname() == "" {
		return errors.New("this is not an address such as https://example.com/v1")
	}
	if parsed.User != nil {
		return errors.New("the address must not hold a user or a password")
	}
	*a = address(s)
	return nil
}

// envName is the name of an environment variable.
type envName string

var envForm = textutil.LazyRegexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Set checks the name. Its error doesn't repeat the text, because people often put the secret
// itself here.
func (e *envName) Set(s string) error {
	if !envForm.MatchString(s) {
		return errors.New("this is not the name of an environment variable; the key itself does not belong here")
	}
	*e = envName(s)
	return nil
}

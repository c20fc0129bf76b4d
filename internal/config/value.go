package config

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
)

// kind is the data that all settings of one Go type share.
type kind struct {
	// noun names the values. unit is the unit of a number.
	noun, unit string
	// tags are the YAML types that are read.
	tags []string
}

// kindOf returns the table of types that a setting may have.
func kindOf(v reflect.Value) kind {
	text := []string{"!!str"}
	counted := []string{"!!str", "!!int", "!!float"}
	switch v.Interface().(type) {
	case bool:
		return kind{"true or false", "", []string{"!!bool"}}
	case int:
		return kind{"whole number", "", []string{"!!int"}}
	case float64:
		return kind{"number", "", []string{"!!int", "!!float"}}
	case Tokens:
		return kind{"tokens", "tokens", counted}
	case cachelayout.Economy:
		return kind{"save, balanced, keep or a number from 0 to 1", "", counted}
	case Size:
		return kind{"size", "bytes", counted}
	case Duration:
		return kind{"duration", "seconds", counted}
	case Path:
		return kind{"file", "", text}
	case URL:
		return kind{"URL", "", text}
	case envName:
		return kind{"name of a variable", "", text}
	case DSN:
		return kind{"DSN", "", text}
	case Zone:
		return kind{"time zone", "", text}
	case []string:
		return kind{"list of text", "", text}
	}
	return kind{"text", "", text}
}

// setter is implemented by pointers to the types of this package.
type setter interface{ Set(string) error }

// parse gives v the value that a text spells.
func parse(v reflect.Value, s string) error {
	switch p := v.Addr().Interface().(type) {
	case setter:
		return p.Set(s)
	case *string:
		*p = s
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

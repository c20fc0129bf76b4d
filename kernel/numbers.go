package kernel

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/memkernel/memkernel/kernel/api"
)

// negativeMeans names the options that accept a negative number.
var negativeMeans = map[string]bool{
	"Memory.WorkspaceTokens": true, "Memory.RecallTokens": true, "Memory.Sync.Wait": true,
	"Memory.Ranking.HalfLife": true, "Memory.Ranking.Floor": true,
	"Summary.CloseWait": true,
}

// check returns an error for a number that no option accepts.
func (o *Options) check() error {
	if err := checkNumbers("", reflect.ValueOf(*o)); err != nil {
		return err
	}
	if err := o.Economy.Check(); err != nil {
		return fmt.Errorf("economy: %w", err)
	}
	switch e := o.Memory.Edits; e { // an unknown rule could let agents change more than was meant
	case "", api.EditOwn, api.EditAny, api.EditNone:
		return nil
	default:
		return fmt.Errorf("Memory.Edits is %q: give own, any or none", e)
	}
}

// checkNumbers returns an error for an exported field that is not a finite number, or is negative
// and not in negativeMeans.
func checkNumbers(name string, v reflect.Value) error {
	bad := false
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if err := checkNumbers(strings.TrimPrefix(name+"."+f.Name, "."), v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Int, reflect.Int64:
		bad = v.Int() < 0 && !negativeMeans[name]
	case reflect.Float64:
		f := v.Float()
		bad = math.IsNaN(f) || math.IsInf(f, 0) || f < 0 && !negativeMeans[name]
	}
	if bad {
		return &api.NumberError{Name: name, Value: fmt.Sprint(v.Interface()), Want: "0 for the default, or a finite number above it"}
	}
	return nil
}

package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// freeText is free text. It is written as a block scalar, so that no colon, quote or sign in it means
// anything. Text that no block can hold is quoted.
type freeText string

// MarshalYAML makes the scalar.
func (t freeText) MarshalYAML() (any, error) {
	if blockable(string(t)) {
		return scalar(string(t), yaml.LiteralStyle), nil
	}
	return scalar(string(t), yaml.DoubleQuotedStyle), nil
}

// blockable reports whether a literal block returns a text unchanged. Such a text has printable
// lines without space at either end, and at most one line break at the end.
func blockable(s string) bool {
	return s != "" && utf8.ValidString(s) && !slices.ContainsFunc(strings.Split(strings.TrimSuffix(s, "\n"), "\n"), func(line string) bool {
		return line == "" || line != strings.TrimSpace(line) || strings.ContainsFunc(line, unicode.IsControl) || strings.ContainsAny(line, unprintable)
	})
}

// unprintable are the characters, in addition to control characters, that the format can't hold unquoted, or
// that some readers take for a line break.
const unprintable = "\u2028\u2029\ufeff\ufffe\uffff"

// nameText is a name, path or id. It is always written in quotes.
type nameText string

// MarshalYAML makes the scalar.
func (n nameText) MarshalYAML() (any, error) { return scalar(string(n), yaml.DoubleQuotedStyle), nil }

// MarshalYAML makes the scalar.
func (t Trigger) MarshalYAML() (any, error) { return nameText(t).MarshalYAML() }

// MarshalYAML makes the scalar.
func (s status) MarshalYAML() (any, error) { return nameText(s).MarshalYAML() }

// utcTime is a time in UTC, to the second. The zero time is written as "".
type utcTime struct{ time.Time }

func stamp(t time.Time) utcTime {
	if t.IsZero() {
		return utcTime{}
	}
	return utcTime{t.UTC().Truncate(time.Second)}
}

// MarshalYAML makes the scalar.
func (t utcTime) MarshalYAML() (any, error) {
	if t.IsZero() {
		return nameText("").MarshalYAML()
	}
	return nameText(t.UTC().Format(time.RFC3339)).MarshalYAML()
}

// UnmarshalYAML reads the result of MarshalYAML.
func (t *utcTime) UnmarshalYAML(n *yaml.Node) error {
	if n.Value == "" {
		*t = utcTime{}
		return nil
	}
	at, err := time.Parse(time.RFC3339, n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	*t = stamp(at)
	return nil
}

func scalar(s string, style yaml.Style) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.ToValidUTF8(s, "\uFFFD"), Style: style}
}

// sumPrefix begins the last line of a checkpoint, which holds the hash of all lines before it.
// Without the hash, a file that was cut short at a line break would pass for a whole file.
const sumPrefix = "# sha256: "

// maxFileBytes is the most that is read as a checkpoint or a state file.
const maxFileBytes = 4 << 20

// Marshal writes a checkpoint as YAML. Equal checkpoints give equal bytes. All keys are fixed,
// and no key contains text of a user or tool.
func Marshal(c *Checkpoint) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("write checkpoint %s: %w", c.Meta.CheckpointID, err)
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(c); err != nil {
		return nil, fmt.Errorf("write checkpoint %s: %w", c.Meta.CheckpointID, err)
	}
	sum := sha256.Sum256(b.Bytes())
	b.WriteString(sumPrefix + hex.EncodeToString(sum[:]) + "\n")
	return b.Bytes(), nil
}

// unmarshal reads the result of [Marshal], strictly: it returns an error for a file that was cut,
// changed or written by a newer version.
func unmarshal(data []byte) (*Checkpoint, error) {
	body, err := checkSum(data)
	if err != nil {
		return nil, err
	}
	d := yaml.NewDecoder(bytes.NewReader(body))
	var head struct {
		Schema        string `yaml:"schema"`
		SchemaVersion int    `yaml:"schema_version"`
	}
	if err := yaml.Unmarshal(body, &head); err == nil && head.Schema == schema && head.SchemaVersion > schemaVersion {
		return nil, fmt.Errorf("schema version %d is newer than %d: use a newer program", head.SchemaVersion, schemaVersion)
	}
	d.KnownFields(true)
	c := new(Checkpoint)
	if err := d.Decode(c); err != nil {
		return nil, err
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("a second document follows")
	}
	return c, c.check()
}

// checkSum returns the data before the line with its hash.
func checkSum(data []byte) ([]byte, error) {
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("%d bytes are too many", len(data))
	}
	i := bytes.LastIndex(data, []byte(sumPrefix))
	if i < 0 {
		return nil, errors.New("its end is missing")
	}
	sum := sha256.Sum256(data[:i])
	if want := sumPrefix + hex.EncodeToString(sum[:]) + "\n"; string(data[i:]) != want {
		return nil, errors.New("its content does not match its sha256 line")
	}
	return data[:i], nil
}

func (c *Checkpoint) check() error {
	switch {
	case c.Schema != schema || c.SchemaVersion != schemaVersion:
		return fmt.Errorf("schema %q version %d, want %q version %d", c.Schema, c.SchemaVersion, schema, schemaVersion)
	case number(string(c.Meta.CheckpointID)) == 0:
		return fmt.Errorf("checkpoint id %q: want cp_ and a number", c.Meta.CheckpointID)
	case !slices.Contains([]Trigger{TriggerAuto, TriggerCompaction, TriggerSessionEnd, TriggerManual}, c.Meta.Trigger):
		return fmt.Errorf("unknown trigger %q: use %s, %s, %s or %s", c.Meta.Trigger, TriggerAuto, TriggerCompaction, TriggerSessionEnd, TriggerManual)
	case !slices.Contains([]status{statusInProgress, statusIdle, statusWaiting}, c.Working.Status):
		return fmt.Errorf("unknown status %q", c.Working.Status)
	}
	return nil
}

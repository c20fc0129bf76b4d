package otlp

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
)

// message is a message of the protocol that is being written. The numbers of its fields are
// those of opentelemetry-proto, which are stable; the tests read what is written by the
// protocol's own code. As there, a field that says nothing is left out.
type message []byte

func (m *message) text(field protowire.Number, s string) {
	if s != "" {
		*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), s)
	}
}

func (m *message) bytes(field protowire.Number, b []byte) {
	if len(b) > 0 {
		*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
	}
}

func (m *message) varint(field protowire.Number, v uint64) {
	if v != 0 {
		*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
	}
}

func (m *message) flag(field protowire.Number, v bool) { m.varint(field, protowire.EncodeBool(v)) }

func (m *message) fixed32(field protowire.Number, v uint32) {
	*m = protowire.AppendFixed32(protowire.AppendTag(*m, field, protowire.Fixed32Type), v)
}

func (m *message) fixed64(field protowire.Number, v uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), v)
}

// double writes a 0 too: where a number may be missing, it says that there is one.
func (m *message) double(field protowire.Number, v float64) { m.fixed64(field, math.Float64bits(v)) }

// moment is a time that may be unknown.
func (m *message) moment(field protowire.Number, t time.Time) {
	if !t.IsZero() {
		m.fixed64(field, uint64(t.UnixNano()))
	}
}

// in writes a message within this one.
func (m *message) in(field protowire.Number, write func(*message)) {
	var inner message
	write(&inner)
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), inner)
}

// doubles and counts are written packed.
func (m *message) doubles(field protowire.Number, list []float64) {
	var b []byte
	for _, v := range list {
		b = protowire.AppendFixed64(b, math.Float64bits(v))
	}
	m.bytes(field, b)
}

func (m *message) counts(field protowire.Number, list []uint64) {
	var b []byte
	for _, v := range list {
		b = protowire.AppendFixed64(b, v)
	}
	m.bytes(field, b)
}

func (m *message) resource(field protowire.Number, r *resource.Resource) {
	m.in(field, func(m *message) { m.attributes(1, r.Attributes()) })
}

func (m *message) scope(field protowire.Number, s instrumentation.Scope) {
	m.in(field, func(m *message) {
		m.text(1, s.Name)
		m.text(2, s.Version)
	})
}

func (m *message) attributes(field protowire.Number, kvs []attribute.KeyValue) {
	for _, kv := range kvs {
		m.in(field, func(m *message) {
			m.text(1, string(kv.Key))
			m.in(2, func(m *message) { m.value(kv.Value) })
		})
	}
}

// value writes values of the kinds that are used here, and others as text. That it is there
// says which kind it is: nothing is left out.
func (m *message) value(v attribute.Value) {
	text := func(s string) {
		*m = protowire.AppendString(protowire.AppendTag(*m, 1, protowire.BytesType), s)
	}
	number := func(field protowire.Number, n uint64) {
		*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), n)
	}
	switch v.Type() {
	case attribute.STRING:
		text(v.AsString())
	case attribute.BOOL:
		number(2, protowire.EncodeBool(v.AsBool()))
	case attribute.INT64:
		number(3, uint64(v.AsInt64()))
	case attribute.FLOAT64:
		m.double(4, v.AsFloat64())
	default:
		text(v.Emit())
	}
}

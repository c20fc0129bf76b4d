package otlp

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Spans exports spans to a target. Make it with [NewSpans].
type Spans struct{ c *client }

// NewSpans makes an exporter of spans.
func NewSpans(t *Target) *Spans { return &Spans{newClient(t)} }

var _ sdktrace.SpanExporter = (*Spans)(nil)

// ExportSpans sends spans.
func (s *Spans) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	return s.c.send(ctx, tracesOf(spans))
}

// Shutdown lets go of connections.
func (s *Spans) Shutdown(context.Context) error {
	s.c.http.CloseIdleConnections()
	return nil
}

// tracesOf writes spans as an ExportTraceServiceRequest. All are of one resource and one
// scope, as those of one provider with one tracer are.
func tracesOf(spans []sdktrace.ReadOnlySpan) message {
	var out message
	of, scope := spans[0].Resource(), spans[0].InstrumentationScope()
	out.in(1, func(m *message) { // ResourceSpans
		m.resource(1, of)
		m.in(2, func(m *message) { // ScopeSpans
			m.scope(1, scope)
			for _, s := range spans {
				m.in(2, func(m *message) { m.span(s) })
			}
			m.text(3, scope.SchemaURL)
		})
		m.text(3, of.SchemaURL())
	})
	return out
}

func (m *message) span(s sdktrace.ReadOnlySpan) {
	trace, id := s.SpanContext().TraceID(), s.SpanContext().SpanID()
	m.bytes(1, trace[:])
	m.bytes(2, id[:])
	m.text(3, s.SpanContext().TraceState().String())
	flags := uint32(s.SpanContext().TraceFlags())
	const known, remote = 0x100, 0x200 // whether the parent is another process's
	flags |= known
	if parent := s.Parent(); parent.IsValid() {
		id := parent.SpanID()
		m.bytes(4, id[:])
		if parent.IsRemote() {
			flags |= remote
		}
	}
	m.text(5, s.Name())
	m.varint(6, uint64(s.SpanKind())) // the SDK counts as the protocol does
	m.moment(7, s.StartTime())
	m.moment(8, s.EndTime())
	m.attributes(9, s.Attributes())
	m.varint(10, uint64(s.DroppedAttributes()))
	if st := s.Status(); st.Code == codes.Error {
		const failed = 2
		m.in(15, func(m *message) {
			m.text(2, st.Description)
			m.varint(3, failed)
		})
	}
	m.fixed32(16, flags)
}

package otlp

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
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
	traces := tracesOf(spans)
	var data []byte
	var err error
	if s.c.t.json {
		data, err = (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
	} else {
		data, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
	}
	if err != nil {
		return err
	}
	return s.c.send(ctx, data)
}

// Shutdown lets go of connections.
func (s *Spans) Shutdown(context.Context) error {
	s.c.http.CloseIdleConnections()
	return nil
}

// tracesOf writes spans as OTLP has them. All are of one resource and one scope, as one
// provider's with one tracer are.
func tracesOf(spans []sdktrace.ReadOnlySpan) ptrace.Traces {
	out := ptrace.NewTraces()
	of := out.ResourceSpans().AppendEmpty()
	setResource(of.Resource(), spans[0].Resource())
	of.SetSchemaUrl(spans[0].Resource().SchemaURL())
	in := of.ScopeSpans().AppendEmpty()
	scope := spans[0].InstrumentationScope()
	in.Scope().SetName(scope.Name)
	in.Scope().SetVersion(scope.Version)
	in.SetSchemaUrl(scope.SchemaURL)
	for _, s := range spans {
		setSpan(in.Spans().AppendEmpty(), s)
	}
	return out
}

func setSpan(to ptrace.Span, s sdktrace.ReadOnlySpan) {
	to.SetTraceID(pcommon.TraceID(s.SpanContext().TraceID()))
	to.SetSpanID(pcommon.SpanID(s.SpanContext().SpanID()))
	to.TraceState().FromRaw(s.SpanContext().TraceState().String())
	flags := uint32(s.SpanContext().TraceFlags())
	const hasRemote, isRemote = 0x100, 0x200 // by the protocol, bits 8 and 9
	if parent := s.Parent(); parent.IsValid() {
		to.SetParentSpanID(pcommon.SpanID(parent.SpanID()))
		if parent.IsRemote() {
			flags |= isRemote
		}
	}
	to.SetFlags(flags | hasRemote)
	to.SetName(s.Name())
	to.SetKind(ptrace.SpanKind(s.SpanKind())) // the SDK counts as the protocol does
	to.SetStartTimestamp(pcommon.NewTimestampFromTime(s.StartTime()))
	to.SetEndTimestamp(pcommon.NewTimestampFromTime(s.EndTime()))
	setAttributes(to.Attributes(), s.Attributes())
	to.SetDroppedAttributesCount(uint32(s.DroppedAttributes()))
	if st := s.Status(); st.Code == codes.Error {
		to.Status().SetCode(ptrace.StatusCodeError)
		to.Status().SetMessage(st.Description)
	} else if st.Code == codes.Ok {
		to.Status().SetCode(ptrace.StatusCodeOk)
	}
}

func setResource(to pcommon.Resource, r *resource.Resource) {
	setAttributes(to.Attributes(), r.Attributes())
}

// setAttributes writes attributes of the kinds that are used here, and others as text.
func setAttributes(to pcommon.Map, kvs []attribute.KeyValue) {
	to.EnsureCapacity(len(kvs))
	for _, kv := range kvs {
		name, v := string(kv.Key), kv.Value
		switch v.Type() {
		case attribute.BOOL:
			to.PutBool(name, v.AsBool())
		case attribute.INT64:
			to.PutInt(name, v.AsInt64())
		case attribute.FLOAT64:
			to.PutDouble(name, v.AsFloat64())
		case attribute.STRING:
			to.PutStr(name, v.AsString())
		case attribute.STRINGSLICE:
			list := to.PutEmptySlice(name)
			for _, s := range v.AsStringSlice() {
				list.AppendEmpty().SetStr(s)
			}
		default:
			to.PutStr(name, v.Emit())
		}
	}
}

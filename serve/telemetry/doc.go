// Package telemetry measures the work of a daemon or a proxy for its operator: metrics that
// Prometheus scrapes, named by the conventions for generative AI where there are some. A program
// may export the same measurements and the work itself through an [Exporter].
//
//	kernel.Options.Watch ─┐
//	proxy.Options.Watch ──┼─► Telemetry ─┬─► /metrics, if an address is named
//	meter.Meter.Each ─────┤              └─► the program's Exporter, if it has one
//	serve.Options.Watch ──┘
//
// Its rules:
//
//   - Nothing is opened, measured or sent unless the program requested it. Otherwise [Open]
//     returns nil, and a nil Telemetry does nothing.
//   - No label has text of a conversation or of memory, a path, a key or the name of a session.
//   - A label has few values. Models are the models of the price book, or "other". Codes,
//     reasons and methods are lists in the source.
//   - The table in names.go has every metric. doc/metrics.md lists the same metrics, and a test
//     compares a scrape with it.
package telemetry

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
//   - Nothing is opened, measured or sent unless it was asked for: [Open] returns nil then,
//     and a nil Telemetry watches nothing.
//   - No word of a conversation or of memory, no path, no key and no name of a session is in
//     a label.
//   - A label has few values: models are those of the price book, or "other"; codes, reasons
//     and methods are lists in the source.
//   - The table in names.go has every metric; doc/metrics.md says the same, and a test holds
//     a scrape to it.
package telemetry

// Package watch reports when something below a workspace's folders has
// changed.
//
//	folders ── fsnotify ──► events ── Relevant? ──► debounced ──► Changed()
//	                          │
//	                          └─ a folder came: it and those below are watched too
//
// It watches folders and never files: editors that write a new file and rename it over the old
// one replace the file, not the folder. It reports only that something may have changed, without
// a name, so that events that the system dropped (an overflow) cost nothing but a look. Between
// the moment when a folder comes and the moment when it is watched, files in it may be missed by
// the watch; the look that follows finds them.
//
// If no more folders can be watched (a limit of the system), it continues with those that it has,
// and State reports that. The caller must then look at intervals.
package watch

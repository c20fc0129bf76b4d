// Package watch reports when something below a workspace's folders has
// changed.
//
//	folders ── fsnotify ──► events ── Relevant? ──► debounced ──► Changed()
//	                          │
//	                          └─ a folder came: it and those below are watched too
//
// The package watches folders and never files, because many editors write a new file and rename
// it over the old file. It reports that something may have changed, and no name. If the system
// dropped events (an overflow), it reports a change, and the caller compares the files. The watch
// may miss files that are written into a new folder before that folder is watched. The caller
// finds these files too, because the new folder is reported as a change.
//
// If a limit of the system prevents the watch of more folders, the package continues to watch the
// other folders, and State returns an error. The caller must then compare the files at intervals.
package watch

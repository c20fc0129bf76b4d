// Package install gives the hosts on a machine this workspace's memory, and takes it from them
// again: it finds the hosts, lists the changes to their files, makes them, and keeps a record of
// the earlier contents (install.json in the state directory). It writes the record before it
// changes the file. So a second run completes the work of a process that was killed at any
// instant, and a file that nobody else changed gets its earlier content back byte for byte.
//
//	Found ──► Plan ──► Put       of each file: record ──► file
//	                   TakeOut   of each file: file ──► folders of ours ──► record
//
// All that it writes is in the project's own folder: a host's settings of this project, never
// those of all projects, and the files of rules that a host shows its model, where its text is
// between two marks. It looks at names and at the beginnings of files, in bounded numbers; it
// runs no host, reads no conversation, and touches no other Markdown.
package install

// Package install connects the hosts on a machine with this workspace's memory, and disconnects
// them again. It finds the hosts, lists the changes to their files, makes the changes, and keeps
// a record of the earlier contents (install.json in the state directory). It writes the record
// before it changes a file. So a second run completes the work of a process that was killed at
// any instant, and a file that nobody else changed gets its earlier content back byte for byte.
//
//	Found ──► Plan ──► Put       of each file: record ──► file
//	                   TakeOut   of each file: file ──► folders of ours ──► record
//
// The package writes only in the project's own folder. It writes a host's settings of this
// project, and never the settings of all projects. It also writes the files of rules that a host
// shows its model. In these files its text is between two marks. The package reads names and the
// beginnings of files, in bounded numbers. It runs no host, reads no conversation, and changes no
// other Markdown.
package install

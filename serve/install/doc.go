// Package install gives the hosts on a machine this workspace's memory, and takes it from
// them again: it finds the hosts, says which of their files would change and how, changes
// them, and keeps a record of what stood there before (install.json in the state
// directory), written before the file is. So a process that is killed at any instant
// leaves nothing that a second run doesn't complete, and what was not touched since
// becomes byte for byte what it was.
//
//	Found ──► Plan ──► Put       of each file: record ──► file
//	                   TakeOut   of each file: file ──► folders of ours ──► record
//
// All that it writes is in the project's own folder: a host's settings of this project,
// never those of all projects, and the files of rules that a host shows its model, where
// its text stands between two marks. It looks at names and at the beginnings of files, in
// bounded numbers; it runs no host, reads no conversation, and touches no other Markdown.
package install

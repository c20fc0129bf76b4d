// Command release makes the published files from a checkout: the program for each system,
// and the packages that distribute it.
//
//	go run -C bench ./release [-snapshot] [-out FOLDER]
//
//	tag, CHANGELOG.md ──► checkout ──► six programs ──► archives, npm, wheels, extensions, formula,
//	                                                     image, bills of materials, checksums, notes
//
// The version is the tag of the checked-out commit. A commit without a tag makes a snapshot. With
// -snapshot a tree with changes makes a snapshot too. A snapshot has all files, with the version
// that Go gives to such a build. FOLDER is replaced once all files are made; its default is
// bin/release. Nothing is published. The network is needed only for modules that are not on the
// machine.
//
// The tests of this package also check that the module can be installed by its version, and
// embedded.
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	root := flag.String("root", "..", "the checkout")
	out := flag.String("out", "", "the `folder` to make, bin/release of the checkout without it")
	snapshot := flag.Bool("snapshot", false, "take the tree as it stands, with changes that are not committed")
	flag.Parse()
	if *out == "" {
		*out = filepath.Join(*root, "bin", "release")
	}
	if err := run(*root, *out, *snapshot, targets, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run makes a release of a checkout for these systems, in a folder.
func run(root, out string, snapshot bool, targets []target, say io.Writer) error {
	c, err := look(root, snapshot)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(out), filepath.Base(out)+".part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if work, err = filepath.Abs(work); err != nil {
		return err
	}
	source, err := c.source(filepath.Join(work, "source"))
	if err != nil {
		return err
	}
	c.root = source
	programs, err := c.build(filepath.Join(work, "programs"), targets, say)
	if err != nil {
		return err
	}
	extras, err := documents(programs, filepath.Join(work, "documents"))
	if err != nil {
		return err
	}
	p := &packer{checkout: c, extras: extras, dir: filepath.Join(work, "release")}
	if err := p.all(programs); err != nil {
		return err
	}
	if err := replace(filepath.Join(work, "release"), out, filepath.Join(work, "old")); err != nil {
		return err
	}
	return tell(say, c, out, p.made)
}

// replace moves folder from to folder to. An existing folder to is first moved to old.
func replace(from, to, old string) error {
	if err := os.Rename(to, old); err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.Rename(from, to)
}

// tell prints a list of the release's files, with the channel that each goes to.
func tell(w io.Writer, c *checkout, out string, made map[string]string) error {
	kind := "memkernel " + c.version
	if c.tag == "" {
		kind += ", a snapshot, which is not to be published"
	}
	fmt.Fprintf(w, "%s: %d files of %s\n", out, len(made), kind)
	for _, name := range slices.Sorted(maps.Keys(made)) {
		st, err := os.Stat(filepath.Join(out, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  %6.1f MB  %-9s  %s\n", float64(st.Size())/1e6, channelOf(name), name)
	}
	return nil
}

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"time"
)

// file is a file of an archive.
type file struct {
	name string
	data []byte
	mode fs.FileMode
}

// tarball packs files. A name that ends in a slash is a folder. The same files make the same
// bytes.
func tarball(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, f := range files {
		// The writer takes a name that ends in a slash for a folder.
		if err := t.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: at, Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := t.Close()
	return b.Bytes(), err
}

// gzipped compresses data.
func gzipped(data []byte, err error) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, written := z.Write(data)
	err = errors.Join(err, written, z.Close())
	return b.Bytes(), err
}

// zipped packs files. The same files make the same bytes.
func zipped(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

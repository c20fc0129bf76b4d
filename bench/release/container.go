package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"os"
	"slices"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser is the user and the group that images run as. The number is that of "nonroot" in
// distroless images.
const imageUser = "65532:65532"

// container makes an image for each architecture of Linux, as one archive of an OCI image layout.
// An image holds the static program, root certificates and licences, and nothing else.
func (p *packer) container(programs []program) {
	var files []file
	// add adds a blob. If v is no slice of bytes, the blob is its JSON.
	add := func(mediaType string, v any) v1.Descriptor {
		data, raw := v.([]byte)
		if !raw {
			data = p.json(v)
		}
		sum := digest.FromBytes(data)
		files = append(files, file{"blobs/sha256/" + sum.Encoded(), data, 0o644})
		return v1.Descriptor{MediaType: mediaType, Digest: sum, Size: int64(len(data))}
	}
	index := v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex}
	for _, prog := range programs {
		if prog.goos != "linux" {
			continue
		}
		data, err := os.ReadFile(prog.path)
		p.fail(err)
		// Everybody may write to these folders, so that the image works for every --user.
		open := []file{{"home/", nil, 0o1777}, {"tmp/", nil, 0o1777}, {"work/", nil, 0o1777}}
		layer, err := tarball(slices.Concat(open, under("usr/share/doc/memkernel/", p.legal()), []file{
			{"etc/passwd", []byte("memkernel:x:" + imageUser + "::/home:/sbin/nologin\n"), 0o644},
			{"etc/ssl/certs/ca-certificates.crt", certificates(), 0o644},
			{"usr/bin/memkernel", data, 0o755},
		}), p.time)
		packed, err := gzipped(layer, err)
		p.fail(err)
		platform := v1.Platform{OS: "linux", Architecture: prog.goarch}
		labels := map[string]string{
			v1.AnnotationTitle: "memkernel", v1.AnnotationVersion: p.version, v1.AnnotationRevision: p.commit, v1.AnnotationLicenses: "MIT",
			v1.AnnotationSource:        "https://" + modulePath,
			"io.github.memkernel.sbom": p.download(p.name(prog.target, ".cdx.json")),
		}
		manifest := v1.Manifest{Versioned: index.Versioned, MediaType: v1.MediaTypeImageManifest, Annotations: labels,
			Config: add(v1.MediaTypeImageConfig, v1.Image{Created: &p.time, Platform: platform,
				Config: v1.ImageConfig{User: imageUser, Entrypoint: []string{"/usr/bin/memkernel"}, WorkingDir: "/work", Env: []string{"HOME=/home", "PATH=/usr/bin"}, Labels: labels},
				RootFS: v1.RootFS{Type: "layers", DiffIDs: []digest.Digest{digest.FromBytes(layer)}}}),
			Layers: []v1.Descriptor{add(v1.MediaTypeImageLayerGzip, packed)}}
		d := add(v1.MediaTypeImageManifest, manifest)
		d.Platform = &platform
		index.Manifests = append(index.Manifests, d)
	}
	all := add(v1.MediaTypeImageIndex, index)
	all.Annotations = map[string]string{v1.AnnotationRefName: p.version}
	index.Manifests = []v1.Descriptor{all}
	files = append(files, file{v1.ImageIndexFile, p.json(index), 0o644}, file{v1.ImageLayoutFile, []byte(`{"imageLayoutVersion":"` + v1.ImageLayoutVersion + `"}`), 0o644})
	archive, err := tarball(files, p.time)
	p.keep(fmt.Sprintf("container/memkernel_%s.tar", p.version), archive, err)
}

// certificates returns the root certificates that Mozilla trusts without conditions, as PEM.
func certificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			b.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return b.Bytes()
}

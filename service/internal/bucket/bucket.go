// Package bucket keeps contents in a bucket of a server that speaks Amazon's S3. Each content is
// one object under its own key, and the server checks its hash. The package does not interpret
// contents.
//
// A request that fails for a transient reason is sent again, a few times and within a time limit.
// Other failures return an [Error] with a hint how to fix them.
package bucket

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"github.com/memkernel/memkernel/internal/endpoint"
)

// Options names a bucket and its credentials.
type Options struct {
	// Endpoint is the server, as https://host:port. The default is Amazon's server of the region.
	// Plain http is allowed only for a server on this machine.
	Endpoint string
	// Bucket is the bucket's name. Prefix begins every key.
	Bucket, Prefix string
	// Region is the bucket's region. The default is us-east-1, which most servers other than
	// Amazon's expect.
	Region string
	// AccessKey and SecretKey are the credentials. SessionToken is needed for temporary
	// credentials.
	AccessKey, SecretKey, SessionToken string
	// VirtualHost puts the bucket's name before the host's instead of into the path.
	VirtualHost bool
	// Timeout bounds an operation with all its attempts. The default is 30 s. One second is added
	// for each MiB of content.
	Timeout time.Duration
}

const (
	defaultRegion  = "us-east-1"
	defaultTimeout = 30 * time.Second
	// tries is how often a request is sent. bodies is how often a content is read whose end does
	// not arrive.
	tries, bodies = 4, 3
	connectWithin = 5 * time.Second
	answerWithin  = 15 * time.Second
)

// Bucket is a bucket. It is safe for concurrent use.
type Bucket struct {
	calls   calls
	name    string
	prefix  string
	place   string
	secrets []string
	timeout time.Duration
	// versions reports that the bucket was seen to keep versions.
	versions atomic.Bool
}

// calls holds the used methods of the client. In a program that uses reflection, a field of the
// client's type would make the linker keep all methods of the client, which are 1.4 MB.
type calls struct {
	put    func(ctx context.Context, key string, data []byte, md5, sha256 string) (minio.UploadInfo, error)
	get    func(ctx context.Context, key string) (io.ReadCloser, error)
	stat   func(ctx context.Context, key string) (minio.ObjectInfo, error)
	remove func(ctx context.Context, key, version string) error
	list   func(ctx context.Context, prefix string, versions bool) iter.Seq[minio.ObjectInfo]
}

func callsOf(c *minio.Core, bucket string) calls {
	return calls{
		put: func(ctx context.Context, key string, data []byte, md5, sha256 string) (minio.UploadInfo, error) {
			return c.PutObject(ctx, bucket, key, bytes.NewReader(data), int64(len(data)), md5, sha256, minio.PutObjectOptions{ContentType: "application/octet-stream", DisableContentSha256: true})
		},
		get: func(ctx context.Context, key string) (io.ReadCloser, error) {
			body, _, _, err := c.GetObject(ctx, bucket, key, minio.GetObjectOptions{})
			return body, err
		},
		stat: func(ctx context.Context, key string) (minio.ObjectInfo, error) {
			return c.StatObject(ctx, bucket, key, minio.StatObjectOptions{})
		},
		remove: func(ctx context.Context, key, version string) error {
			return c.RemoveObject(ctx, bucket, key, minio.RemoveObjectOptions{VersionID: version})
		},
		list: func(ctx context.Context, prefix string, versions bool) iter.Seq[minio.ObjectInfo] {
			return c.ListObjectsIter(ctx, bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true, WithVersions: versions})
		},
	}
}

// New returns a bucket. It sends no request yet.
func New(o Options) (*Bucket, error) {
	if o.Region == "" {
		o.Region = defaultRegion
	}
	if o.Endpoint == "" {
		o.Endpoint = "https://s3." + o.Region + ".amazonaws.com"
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	u, err := url.Parse(o.Endpoint)
	prefix := strings.Trim(o.Prefix, "/")
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the endpoint is no address of a server: write it as https://host or https://host:port, without bucket and keys")
	case u.Scheme == "http" && !endpoint.Loopback(u):
		return nil, fmt.Errorf("the endpoint %s would send contents unencrypted to another machine: use https", o.Endpoint)
	case o.AccessKey == "" || o.SecretKey == "":
		return nil, errors.New("there is no access key and secret for the bucket")
	case prefix != "" && path.Clean(prefix) != prefix || strings.HasPrefix(prefix, ".."):
		return nil, fmt.Errorf("the prefix %q: take names with slashes between them", o.Prefix)
	}
	lookup := minio.BucketLookupPath
	if o.VirtualHost {
		lookup = minio.BucketLookupDNS
	}
	transport, err := minio.DefaultTransport(u.Scheme == "https")
	if err != nil {
		return nil, err
	}
	transport.DialContext = (&net.Dialer{Timeout: connectWithin, KeepAlive: connectWithin}).DialContext
	transport.ResponseHeaderTimeout = min(answerWithin, o.Timeout)
	transport.TLSHandshakeTimeout = connectWithin
	c, err := minio.NewCore(u.Host, &minio.Options{Creds: credentials.NewStaticV4(o.AccessKey, o.SecretKey, o.SessionToken), Secure: u.Scheme == "https",
		Transport: transport, Region: o.Region, BucketLookup: lookup, MaxRetries: tries})
	if err != nil {
		return nil, fmt.Errorf("the bucket %s: %w", o.Bucket, err)
	}
	b := &Bucket{calls: callsOf(c, o.Bucket), name: o.Bucket, prefix: prefix, place: "s3://" + path.Join(o.Bucket, prefix), secrets: []string{o.SecretKey, o.SessionToken}, timeout: o.Timeout}
	if prefix != "" {
		b.prefix += "/"
	}
	return b, nil
}

// Place returns the server and the name of the bucket, for messages.
func (b *Bucket) Place() string { return b.place }

func (b *Bucket) where(key string) string { return b.place + "/" + key }

// within bounds the time of an operation on size bytes.
func (b *Bucket) within(ctx context.Context, size int64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, b.timeout+time.Duration(size>>20)*time.Second)
}

// Put keeps a content under a key. When Put returns nil, the server has the whole content and has
// checked its hash.
func (b *Bucket) Put(ctx context.Context, key string, data []byte) error {
	ctx, cancel := b.within(ctx, int64(len(data)))
	defer cancel()
	five, two := md5.Sum(data), sha256.Sum256(data) // S3 requires the MD5, and checks the content against both hashes
	info, err := b.calls.put(ctx, b.prefix+key, data, base64.StdEncoding.EncodeToString(five[:]), hex.EncodeToString(two[:]))
	if info.VersionID != "" {
		b.versions.Store(true)
	}
	return b.explain("write", key, err)
}

// Get reads a content of known size. A missing content is an error that wraps [fs.ErrNotExist].
// If the content has another size, Get returns no error and at most size+1 bytes. Callers must
// check the hash.
func (b *Bucket) Get(ctx context.Context, key string, size int64) (data []byte, err error) {
	ctx, cancel := b.within(ctx, size)
	defer cancel()
	for range bodies {
		if data, err = b.get(ctx, key, size); !cutShort(err) || ctx.Err() != nil {
			break
		}
	}
	return data, b.explain("read", key, err)
}

func (b *Bucket) get(ctx context.Context, key string, size int64) ([]byte, error) {
	body, err := b.calls.get(ctx, b.prefix+key)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data := make([]byte, 0, size+1)
	buf := bytes.NewBuffer(data)
	if _, err := io.Copy(buf, io.LimitReader(body, size+1)); err != nil {
		return nil, fmt.Errorf("%w: %w", errShort, err)
	}
	return buf.Bytes(), nil
}

// errShort means that the end of an answer did not arrive.
var errShort = errors.New("the answer was cut short")

func cutShort(err error) bool { return errors.Is(err, errShort) }

// Remove removes a key, and all its versions if the bucket keeps several. Removing a missing key
// is no error.
func (b *Bucket) Remove(ctx context.Context, key string) error {
	ctx, cancel := b.within(ctx, 0)
	defer cancel()
	info, err := b.calls.stat(ctx, b.prefix+key)
	if info.VersionID != "" || info.IsDeleteMarker || b.versions.Load() {
		b.versions.Store(true)
		return b.explain("remove", key, b.removeVersions(ctx, key))
	}
	if err = b.explain("remove", key, err); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return b.explain("remove", key, b.calls.remove(ctx, b.prefix+key, ""))
}

func (b *Bucket) removeVersions(ctx context.Context, key string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for v := range b.calls.list(ctx, b.prefix+key, true) {
		if v.Err != nil {
			return v.Err
		}
		if v.Key != b.prefix+key {
			continue
		}
		if err := b.calls.remove(ctx, v.Key, v.VersionID); err != nil {
			return err
		}
	}
	return nil
}

// List calls f for every key that begins with prefix.
func (b *Bucket) List(ctx context.Context, prefix string, f func(key string, size int64) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for o := range b.calls.list(ctx, b.prefix+prefix, false) {
		if o.Err != nil {
			return b.explain("list", prefix, o.Err)
		}
		if err := f(strings.TrimPrefix(o.Key, b.prefix), o.Size); err != nil {
			return err
		}
	}
	return b.explain("list", prefix, ctx.Err())
}

// The kinds of an [Error].
var (
	ErrUnreachable = errors.New("the bucket's server can't be reached")
	ErrDenied      = errors.New("the bucket's server refuses")
	ErrNoBucket    = errors.New("there is no such bucket")
	ErrRegion      = errors.New("the bucket is in another region")
	ErrClock       = errors.New("this machine's clock is wrong")
	ErrFull        = errors.New("the bucket is full")
	ErrBusy        = errors.New("the bucket's server is busy or out of order")
)

// Error describes a failure of a bucket and how to fix it. No message holds a secret.
type Error struct {
	// Op is the operation. Place is the bucket and the key of the operation.
	Op, Place string
	// Kind is one of the errors of this package.
	Kind error
	Hint string
	Err  error
	said string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %s: %s: %s; %s", e.Op, e.Place, e.Kind, e.said, e.Hint)
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error { return []error{e.Kind, e.Err} }

// codes maps the codes of S3 to kinds and hints.
var codes = map[string]struct {
	kind error
	hint string
}{
	minio.NoSuchBucket:                   {ErrNoBucket, "make it, or name another by store.blobs.s3.bucket"},
	minio.AccessDenied:                   {ErrDenied, "give the key the right to get, put, delete and list what is in the bucket"},
	minio.AllAccessDisabled:              {ErrDenied, "see that the account and the bucket are not suspended"},
	minio.InvalidAccessKeyID:             {ErrDenied, "see that the variable that store.blobs.s3.access_key_env names holds a key of this server"},
	minio.SignatureDoesNotMatch:          {ErrDenied, "see that the variable that store.blobs.s3.secret_key_env names holds the secret of this key"},
	"InvalidToken":                       {ErrDenied, "see that the variable that store.blobs.s3.session_token_env names holds the token of this key"},
	"ExpiredToken":                       {ErrDenied, "the token has expired: put a new one into its variable, and start again"},
	minio.InvalidRegion:                  {ErrRegion, "set store.blobs.s3.region to the bucket's"},
	"PermanentRedirect":                  {ErrRegion, "set store.blobs.s3.region to the bucket's, and endpoint to that region's"},
	"TemporaryRedirect":                  {ErrRegion, "set store.blobs.s3.region to the bucket's, and endpoint to that region's"},
	"AuthorizationHeaderMalformed":       {ErrRegion, "set store.blobs.s3.region to the bucket's"},
	"IllegalLocationConstraintException": {ErrRegion, "set store.blobs.s3.region to the bucket's"},
	"RequestTimeTooSkewed":               {ErrClock, "set this machine's clock: the server refuses requests that are more than some minutes off"},
	"QuotaExceeded":                      {ErrFull, "make room, or raise its quota; what was written before stands"},
	"XMinioStorageFull":                  {ErrFull, "make room; what was written before stands"},
	"InsufficientStorage":                {ErrFull, "make room; what was written before stands"},
	"InvalidBucketName":                  {ErrNoBucket, "name one by store.blobs.s3.bucket: lower case letters, digits, points and dashes"},
}

// explain wraps an error with the operation and a hint how to fix it.
func (b *Bucket) explain(op, key string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	e := &Error{Op: op, Place: b.where(key), Err: err, said: err.Error()}
	for _, s := range b.secrets {
		e.said = endpoint.Clean(e.said, s)
	}
	var res minio.ErrorResponse
	switch known, ok := codes[minio.ToErrorResponse(err).Code]; {
	case !errors.As(err, &res) && (cutShort(err) || errors.Is(err, context.DeadlineExceeded)):
		e.Kind, e.Hint = ErrUnreachable, "it took too long to answer, or stopped in the middle: see what keeps the server or the network busy, and try again"
	case !errors.As(err, &res) && s3utils.CheckValidBucketName(b.name) != nil:
		e.Kind, e.Hint = ErrNoBucket, codes["InvalidBucketName"].hint
	case !errors.As(err, &res):
		e.Kind, e.Hint = ErrUnreachable, "see that the server runs and store.blobs.s3.endpoint names it rightly, and try again"
	case res.Code == minio.NoSuchKey || res.Code == "NoSuchVersion":
		return fmt.Errorf("%s %s: %w", op, b.where(key), fs.ErrNotExist)
	case ok:
		e.Kind, e.Hint = known.kind, known.hint
	case res.StatusCode == http.StatusMovedPermanently || res.StatusCode == http.StatusTemporaryRedirect:
		e.Kind, e.Hint = ErrRegion, codes["PermanentRedirect"].hint
	case res.StatusCode == http.StatusForbidden || res.StatusCode == http.StatusUnauthorized:
		e.Kind, e.Hint = ErrDenied, codes[minio.AccessDenied].hint
	default:
		e.Kind, e.Hint = ErrBusy, "try again; if that does not help, see the server's log"
	}
	if res.Code != "" && !strings.Contains(e.said, res.Code) {
		e.said = res.Code + ": " + e.said
	}
	if e.Kind == ErrRegion && res.Region != "" {
		e.Hint += ", " + res.Region
	}
	return e
}

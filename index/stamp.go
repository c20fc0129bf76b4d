package index

import (
	"math"
	"time"
)

// statHash returns one file's part of the stamp. It is FNV-1a over the path, size and time,
// scrambled by the finaliser of splitmix64 so that the sums of similar files differ. It guards
// against accidents, not against attacks. The sum is stored, so statHash must never change.
func statHash(path string, size, mtime int64) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := 0; i < len(path); i++ {
		h = (h ^ uint64(path[i])) * prime
	}
	for _, v := range [2]uint64{uint64(size), uint64(mtime)} {
		h = (h ^ v) * prime
		h ^= h >> 29
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func (f FileStat) hash() uint64 { return statHash(f.Path, f.Size, f.Nanos()) }

// nanos returns the stored form of a time. A time out of range, which only a broken clock writes,
// becomes the nearest time in range.
func nanos(t time.Time) int64 {
	switch s := t.Unix(); {
	case s >= math.MaxInt64/int64(time.Second):
		return math.MaxInt64
	case s <= math.MinInt64/int64(time.Second):
		return math.MinInt64
	}
	return t.UnixNano()
}

// The grain of file times. fineGrain is the grain of the kernel's clock. coarseGrain is for file
// systems that store whole seconds, or two seconds as FAT does.
const (
	fineGrain   = 10 * time.Millisecond
	coarseGrain = 2 * time.Second
)

// Young reports whether a file may change once more without a change of its time. This is so if
// the file was written so shortly before it was read that both fall into one tick of the clock. A
// time far in the future is not young, because the present clock did not make it.
func (f FileStat) Young(read time.Time) bool {
	grain := fineGrain
	if f.ModTime.Nanosecond() == 0 {
		grain = coarseGrain
	}
	age := read.Sub(f.ModTime)
	return age < grain && age > -coarseGrain
}

package index

import (
	"math"
	"time"
)

// statHash is one file's part of the stamp: FNV-1a over its path, size and
// time, scrambled so that sums of similar files differ (the finaliser of
// splitmix64). It guards against accidents, not against an enemy, and it is
// stored, so it must never change.
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

func (f FileStat) hash() uint64 { return statHash(f.Path, f.Size, nanos(f.ModTime)) }

// nanos returns a time as it is stored. Times out of range, which only a
// broken clock writes, become the nearest that fits.
func nanos(t time.Time) int64 {
	switch s := t.Unix(); {
	case s >= math.MaxInt64/int64(time.Second):
		return math.MaxInt64
	case s <= math.MinInt64/int64(time.Second):
		return math.MinInt64
	}
	return t.UnixNano()
}

// The grain of file times: that of the kernel's clock, or whole seconds where
// the file system keeps no finer (FAT keeps two).
const (
	fineGrain   = 10 * time.Millisecond
	coarseGrain = 2 * time.Second
)

// fresh reports whether a file may change once more without its time changing:
// it was written so shortly before it was read that both fall into one tick. A
// time far in the future was not made by a clock that ticks now.
func fresh(mtime, read time.Time) bool {
	grain := fineGrain
	if mtime.Nanosecond() == 0 {
		grain = coarseGrain
	}
	age := read.Sub(mtime)
	return age < grain && age > -coarseGrain
}

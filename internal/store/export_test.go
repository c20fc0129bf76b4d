package store

var (
	EncodeRecord = encodeRecord
	WriteLine    = writeLine
)

type (
	Chain    = chain
	HeadMark = headMark
)

const HeadSlot = headSlot

// LayHead gives a log the head that records marks, one after the other.
func LayHead(d Disk, name string, marks ...HeadMark) error {
	if _, err := d.Remove(Unsynced, headName(name)); err != nil {
		return err
	}
	l := OpenLineLog(d, name, LogOptions{})
	for _, m := range marks {
		l.at = m
		if l.head == nil {
			if err := l.makeHead(); err != nil {
				return err
			}
		}
		l.keepHead()
	}
	return nil
}

// MarkNow returns a log's place.
func MarkNow(l Log) HeadMark { return l.(*lineLog).at }

// HasHead reports whether a log has a head that can be read.
func HasHead(l Log) bool { return l.(*lineLog).head != nil }

// DecodeLine checks a line's envelope and returns its record.
func DecodeLine(line []byte) ([]byte, error) {
	env, err := decodeEnvelope(line)
	return env.rec, err
}

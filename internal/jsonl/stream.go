package jsonl

import "bufio"

// NextLine reads the next line of a stream in bounded memory and passes it to take in parts, with
// its line break. It returns the number of bytes that it read. If that number is more than limit,
// NextLine passed at most limit bytes to take and skipped the rest of the line. Callers can then
// continue with the next line. A part is valid until take returns. At the end of the stream the
// error is io.EOF, also if the last line has no line break.
func NextLine(r *bufio.Reader, limit int, take func(part []byte)) (size int, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if size += len(part); size <= limit {
			take(part)
		}
		if err != bufio.ErrBufferFull {
			return size, err
		}
	}
}

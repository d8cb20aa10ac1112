package trace

import (
	"bufio"
	"errors"
	"io"
)

// lineReader splits text into lines of bounded length.
type lineReader struct {
	in     *bufio.Reader
	line   []byte
	number int  // of the last line, from 1
	cut    bool // the compressed text ended inside a block, of which nothing can be read
}

// next returns the next line without its newline, valid until the next call. A line that ends with the text
// instead, or where the compressed text was cut off, is not whole. At the end the error is io.EOF.
func (l *lineReader) next() (line []byte, whole bool, err error) {
	l.line = l.line[:0]
	l.number++
	for {
		part, err := l.in.ReadSlice('\n')
		l.line = append(l.line, part...)
		if len(l.line) > maxLine {
			return nil, false, tooLarge(l.line)
		}
		switch {
		case err == nil:
			return l.line[:len(l.line)-1], true, tooLarge(l.line)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			l.cut = errors.Is(err, io.ErrUnexpectedEOF)
			if len(l.line) == 0 {
				return nil, false, io.EOF
			}
			return l.line, false, tooLarge(l.line)
		default:
			return nil, false, err
		}
	}
}

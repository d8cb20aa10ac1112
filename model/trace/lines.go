package trace

import (
	"bufio"
	"errors"
	"fmt"
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
		if len(l.line)+len(part) > maxLine {
			return nil, false, fmt.Errorf("is longer than %d bytes, the longest line that there is", maxLine)
		}
		l.line = append(l.line, part...)
		switch {
		case err == nil:
			return l.line[:len(l.line)-1], true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			l.cut = errors.Is(err, io.ErrUnexpectedEOF)
			if len(l.line) == 0 {
				return nil, false, io.EOF
			}
			return l.line, false, nil
		default:
			return nil, false, err
		}
	}
}

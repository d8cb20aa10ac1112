package groth16

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"runtime/debug"

	"github.com/consensys/gnark"
	groth16 "github.com/consensys/gnark/backend/groth16/bls12-381"
)

// keyFormat is the version of the key file: a header of one padded line of JSON, then gnark's raw encoding of the
// proving key and of the verifying key.
const keyFormat = 1

// headerSize is the length of the header line with its newline.
const headerSize = 512

// keyHeader is everything that must agree before a key file's payload is decoded.
type keyHeader struct {
	Format      int    `json:"format"`
	Family      string `json:"family"`
	Log2        int    `json:"log2_constraints"`
	Depth       int    `json:"depth"`
	Challenges  int    `json:"challenges"`
	Constraints int    `json:"constraints"`
	Wires       int    `json:"wires"`
	Gnark       string `json:"gnark"`
	GnarkCrypto string `json:"gnark_crypto"`
	Payload     int64  `json:"payload_bytes"`
	SHA256      string `json:"payload_sha256"`
}

// header returns what the circuit's key file says, but for its payload.
func (c Circuit) header() keyHeader {
	s := c.shape()
	e := families[c.Family].extent(s.depth, s.challenges)
	return keyHeader{
		Format: keyFormat, Family: c.Family, Log2: c.Log2Constraints, Depth: s.depth, Challenges: s.challenges,
		Constraints: e.constraints, Wires: e.wires,
		Gnark: gnark.Version.String(), GnarkCrypto: moduleVersion("github.com/consensys/gnark-crypto"),
	}
}

// moduleVersion returns the version of a module in this program, "unknown" where it was built without module support.
func moduleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return m.Version
			}
		}
	}
	return "unknown"
}

// encode returns the header's line.
func (h keyHeader) encode() ([]byte, error) {
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if len(line) >= headerSize {
		return nil, fmt.Errorf("header has %d bytes, more than %d", len(line), headerSize-1)
	}
	padded := bytes.Repeat([]byte{' '}, headerSize)
	copy(padded, line)
	padded[headerSize-1] = '\n'
	return padded, nil
}

// decodeKeyHeader reads a header line. Every error wraps errDamaged.
func decodeKeyHeader(line []byte) (h keyHeader, err error) {
	if len(line) != headerSize || line[headerSize-1] != '\n' {
		return h, fmt.Errorf("%w: the header is not a line of %d bytes", errDamaged, headerSize)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&h); err != nil {
		return h, fmt.Errorf("%w: the header: %w", errDamaged, err)
	}
	if h.Payload <= 0 {
		return h, fmt.Errorf("%w: a payload of %d bytes", errDamaged, h.Payload)
	}
	return h, nil
}

// readKeys loads the keys of the wanted header. The payload's checksum is checked before any of it is decoded,
// which is why points are then taken without further checks.
func readKeys(path string, want keyHeader) (*groth16.ProvingKey, *groth16.VerifyingKey, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if err := checkKeys(f, want); err != nil {
		return nil, nil, err
	}
	if _, err := f.Seek(headerSize, io.SeekStart); err != nil {
		return nil, nil, err
	}
	r := bufio.NewReaderSize(f, 1<<20)
	pk, vk := new(groth16.ProvingKey), new(groth16.VerifyingKey)
	if _, err := pk.UnsafeReadFrom(r); err != nil {
		return nil, nil, fmt.Errorf("%w: the proving key: %w", errDamaged, err)
	}
	if _, err := vk.UnsafeReadFrom(r); err != nil {
		return nil, nil, fmt.Errorf("%w: the verifying key: %w", errDamaged, err)
	}
	return pk, vk, nil
}

// checkKeys compares header, length and checksum.
func checkKeys(f io.Reader, want keyHeader) error {
	line := make([]byte, headerSize)
	if _, err := io.ReadFull(f, line); err != nil {
		return fmt.Errorf("%w: the header: %w", errDamaged, err)
	}
	got, err := decodeKeyHeader(line)
	if err != nil {
		return err
	}
	want.Payload, want.SHA256 = got.Payload, got.SHA256
	if got != want {
		return fmt.Errorf("%w: it is for %+v, and %+v is needed", errDamaged, got, want)
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return err
	}
	if n != got.Payload {
		return fmt.Errorf("%w: the payload has %d bytes and should have %d", errDamaged, n, got.Payload)
	}
	if hex.EncodeToString(sum.Sum(nil)) != got.SHA256 {
		return fmt.Errorf("%w: the payload does not have the checksum of its header", errDamaged)
	}
	return nil
}

// writeKeys writes the keys behind the header, to which it adds length and checksum of the payload.
func writeKeys(f *os.File, h keyHeader, pk *groth16.ProvingKey, vk *groth16.VerifyingKey) error {
	if _, err := f.Seek(headerSize, io.SeekStart); err != nil {
		return err
	}
	sum := &summed{w: bufio.NewWriterSize(f, 1<<20), hash: sha256.New()}
	if _, err := pk.WriteRawTo(sum); err != nil {
		return err
	}
	if _, err := vk.WriteRawTo(sum); err != nil {
		return err
	}
	if err := sum.w.Flush(); err != nil {
		return err
	}
	h.Payload, h.SHA256 = sum.n, hex.EncodeToString(sum.hash.Sum(nil))
	line, err := h.encode()
	if err != nil {
		return err
	}
	_, err = f.WriteAt(line, 0)
	return err
}

// summed counts and hashes what it passes on.
type summed struct {
	w    *bufio.Writer
	hash hash.Hash
	n    int64
}

func (s *summed) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.hash.Write(p[:n])
	s.n += int64(n)
	return n, err
}

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

	"github.com/consensys/gnark"
	groth16 "github.com/consensys/gnark/backend/groth16/bls12-381"
	cs "github.com/consensys/gnark/constraint/bls12-381"
)

// keyFormat is the version of the key file: a header of one padded line of JSON, then gnark's encodings of the
// compiled circuit and, uncompressed, of the proving and the verifying key. It also stands for the circuits
// themselves: it is raised when what they compile to changes.
const keyFormat = 1

// gnarkCrypto is the version of gnark-crypto, which does not tell it; a test holds it to go.mod.
const gnarkCrypto = "0.22.0"

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
func (c circuit) header() keyHeader {
	s := c.shape()
	e := families[c.Family].extent(s.depth, s.challenges)
	return keyHeader{
		Format: keyFormat, Family: c.Family, Log2: c.Log2Constraints, Depth: s.depth, Challenges: s.challenges,
		Constraints: e.constraints, Wires: e.wires,
		Gnark: gnark.Version.String(), GnarkCrypto: gnarkCrypto,
	}
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

// read loads the file if it has the wanted header. The payload's checksum is checked before any of it is decoded,
// which is why its points are then taken without further checks.
func (k *Keys) read(path string, want keyHeader) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := checkKeys(f, want); err != nil {
		return err
	}
	if _, err := f.Seek(headerSize, io.SeekStart); err != nil {
		return err
	}
	k.system, k.proving, k.checks = cs.NewR1CS(0), new(groth16.ProvingKey), new(groth16.VerifyingKey)
	// The decoder fails on a list of commitments that is there already.
	k.system.CommitmentInfo = nil
	r := bufio.NewReaderSize(f, 1<<20)
	for _, part := range []func(io.Reader) (int64, error){
		k.system.ReadFrom, k.proving.UnsafeReadFrom, k.checks.UnsafeReadFrom,
	} {
		if _, err := part(r); err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
	return nil
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

// write writes the keys behind the header, to which it adds length and checksum of the payload.
func (k *Keys) write(f *os.File, h keyHeader) error {
	if _, err := f.Seek(headerSize, io.SeekStart); err != nil {
		return err
	}
	sum := &summed{w: bufio.NewWriterSize(f, 1<<20), hash: sha256.New()}
	for _, part := range []func(io.Writer) (int64, error){
		k.system.WriteTo, k.proving.WriteRawTo, k.checks.WriteRawTo,
	} {
		if _, err := part(sum); err != nil {
			return err
		}
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

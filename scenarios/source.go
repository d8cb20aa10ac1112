package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"headroom/model/input"
	"headroom/model/profile"
	"headroom/model/strict"
)

//go:embed library/*.yaml profiles/*.yaml
var embedded embed.FS

// Names returns the names of the embedded scenarios, sorted.
func Names() []string { return embeddedNames("library") }

// ProfileNames returns the names of the embedded profiles, sorted.
func ProfileNames() []string { return embeddedNames("profiles") }

func embeddedNames(folder string) []string {
	files, err := fs.Glob(embedded, folder+"/*.yaml")
	if err != nil {
		panic("scenarios: " + err.Error()) // the pattern is a constant
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".yaml")
	}
	slices.Sort(files) // they were sorted with their suffix, and "-" comes before "."
	return files
}

// Source returns the text of an embedded scenario, or of the file at a path, and the name by which errors call it.
func Source(name string) (data []byte, filename string, err error) {
	if slices.Contains(Names(), name) {
		return embeddedText("library", name)
	}
	data, err = readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("scenario: %q is neither a file nor one of the %d embedded scenarios: %w", name, len(Names()), err)
	}
	if err != nil {
		return nil, "", fmt.Errorf("scenario: %w", err)
	}
	return data, name, nil
}

func embeddedText(folder, name string) (data []byte, filename string, err error) {
	filename = name + ".yaml"
	data, err = embedded.ReadFile(folder + "/" + filename)
	return data, filename, err
}

// LoadProfile reads an embedded profile by its name, or a file by its path.
func LoadProfile(name string) (*profile.Profile, error) {
	p, err := findProfile(name, "")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("profile: %q is %w", name, err)
	}
	return p, err
}

// findProfile reads an embedded profile by its name, or a file by its path, which is looked up beside the
// scenario's file and then in the working directory.
func findProfile(name, scenarioFile string) (*profile.Profile, error) {
	if slices.Contains(ProfileNames(), name) {
		data, filename, err := embeddedText("profiles", name)
		if err != nil {
			return nil, err
		}
		return profile.Read(data, filename)
	}
	places := []string{name}
	if beside := filepath.Join(filepath.Dir(scenarioFile), name); !filepath.IsAbs(name) && beside != filepath.Clean(name) {
		places = []string{beside, name}
	}
	for _, file := range places {
		data, err := readFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("profile: %w", err)
		}
		return profile.Read(data, file)
	}
	return nil, fmt.Errorf("neither a file (looked for %s) nor one of the embedded profiles (%s): %w",
		strings.Join(places, " and "), strings.Join(ProfileNames(), ", "), fs.ErrNotExist)
}

// readFile reads a file that may be what a person wrote; of a larger one, or one without an end, it reads only
// enough for the parser to refuse it.
func readFile(name string) ([]byte, error) { return readUpTo(name, strict.MaxSize) }

// readUpTo reads a file, of one that is larger than so many bytes one byte more.
func readUpTo(name string, most int64) ([]byte, error) {
	f, err := input.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

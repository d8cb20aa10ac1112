package cuda

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Environment names the variable with the path of the library.
const Environment = "HEADROOM_CUDA_LIBRARY"

// fileName is the library's name beside the binary.
const fileName = "libheadroom_cuda.so"

// build says how to get the library.
const build = "make -C cuda ARCH=sm_90 builds it, on a machine with nvcc"

// Load loads the library: from the path, where that is empty from the path in the environment, and where that is empty
// too from the folder of the running binary. A library of another ABI is an error.
func Load(path string) (*Library, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cuda: library %s: %w", fileName, err)
	}
	path, origin, err := find(path, filepath.Dir(binary))
	if err != nil {
		return nil, err
	}
	f, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("cuda: library %s (%s): %w", path, origin, err)
	}
	return &Library{f}, nil
}

// find returns which file to load, and why that one. beside is the folder of the binary.
func find(path, beside string) (found, origin string, err error) {
	if path != "" {
		return path, "as asked for", nil
	}
	if path = os.Getenv(Environment); path != "" {
		return path, "from " + Environment, nil
	}
	path = filepath.Join(beside, fileName)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", "", fmt.Errorf("cuda: no library: %s is not set and %s is not there: %s", Environment, path, build)
	}
	return path, "beside the binary", nil
}

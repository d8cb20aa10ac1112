package groth16

import "github.com/consensys/gnark"

// Version names the libraries that circuits, keys and curves come from, with their versions.
func Version() string { return "gnark v" + gnark.Version.String() + ", gnark-crypto " + gnarkCrypto }

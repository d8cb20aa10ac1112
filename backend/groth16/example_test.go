package groth16_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"headroom/backend/groth16"
	"headroom/model"
)

// One partition, from its data to a verified proof.
func Example() {
	dir, err := os.MkdirTemp("", "keys")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	circuit := model.Circuit{Family: groth16.MiMC, Log2Constraints: 10, Data: model.MiB, Leaf: model.DefaultLeaf}
	keys, err := groth16.OpenKeys(ctx, dir, circuit, nil)
	if err != nil {
		log.Fatal(err)
	}
	prover, err := groth16.NewProver(ctx, dir, keys, groth16.Threads{})
	if err != nil {
		log.Fatal(err)
	}
	defer prover.Close()

	partition, err := prover.Synthesize(ctx, 0, 0)
	if err != nil {
		log.Fatal(err)
	}
	for _, stage := range []func() error{partition.Prep, partition.Kernel, partition.FreeVectors, partition.Tail} {
		if err := stage(); err != nil {
			log.Fatal(err)
		}
	}
	proof, err := partition.Finish()
	if err != nil {
		log.Fatal(err)
	}
	if err := partition.FreeAssignment(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(proof), "bytes, verifies:", keys.Verify(partition.Statement, proof) == nil)
	// Output: 192 bytes, verifies: true
}

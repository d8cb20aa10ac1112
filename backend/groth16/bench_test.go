package groth16

import (
	"fmt"
	"os"
	"testing"
	"time"

	"headroom/model"
)

// BenchmarkPartition reports each stage of a partition in milliseconds; what it takes in all is ns/op.
func BenchmarkPartition(b *testing.B) {
	for _, c := range []circuit{
		{Family: MiMC, Log2Constraints: 12, Data: 64 * model.MiB, Leaf: model.DefaultLeaf},
		{Family: MiMC, Log2Constraints: 13, Data: 64 * model.MiB, Leaf: model.DefaultLeaf},
		{Family: SHA256, Log2Constraints: 15, Data: 64 * model.MiB, Leaf: model.DefaultLeaf},
	} {
		b.Run(c.String(), func(b *testing.B) {
			p := openProver(b, c, Threads{})
			spent := map[string]time.Duration{}
			timed := func(name string, stage func() error) {
				begin := time.Now()
				if err := stage(); err != nil {
					b.Fatal(err)
				}
				spent[name] += time.Since(begin)
			}
			for b.Loop() {
				var part *Partition
				var proof Proof
				timed("synth", func() (err error) { part, err = p.Synthesize(b.Context(), 0, 0); return err })
				timed("prep", part.Prep)
				timed("kernel", part.Kernel)
				timed("tail", part.Tail)
				timed("finish", func() (err error) { proof, err = part.Finish(); return err })
				timed("dealloc", part.FreeVectors)
				timed("dealloc", part.FreeAssignment)
				timed("verify", func() error { return p.keys.Verify(part.Statement, proof) })
			}
			for name, d := range spent {
				b.ReportMetric(d.Seconds()*1e3/float64(b.N), name+"-ms")
			}
		})
	}
}

// BenchmarkOpenKeys measures loading, and with an empty cache compiling and setup.
func BenchmarkOpenKeys(b *testing.B) {
	for _, log2 := range []int{12, 13} {
		c := circuit{Family: MiMC, Log2Constraints: log2, Data: 64 * model.MiB, Leaf: model.DefaultLeaf}
		open := func(b *testing.B, dir string) {
			keys, err := OpenKeys(b.Context(), dir, model.Circuit(c), nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(keys.Size()), "resident-B")
		}
		b.Run(fmt.Sprintf("%v/load", c), func(b *testing.B) {
			open(b, keyDir)
			for b.Loop() {
				open(b, keyDir)
			}
		})
		b.Run(fmt.Sprintf("%v/make", c), func(b *testing.B) {
			for b.Loop() {
				dir, err := os.MkdirTemp(keyDir, "make")
				if err != nil {
					b.Fatal(err)
				}
				open(b, dir)
			}
		})
	}
}

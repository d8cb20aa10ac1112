//go:build linux && cgo

package cuda

import (
	"strings"
	"testing"

	"headroom/model"
)

// fakeLibrary is a library whose cards count memory and whose sums are all infinity.
func fakeLibrary(t *testing.T) *Library {
	t.Helper()
	l, err := Load(library(t, `#include "testdata/fake.c"`))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestDeviceWithoutACard holds that proofs from wrong sums are refused, and that all that failed is freed on both sides.
func TestDeviceWithoutACard(t *testing.T) {
	l, dir := fakeLibrary(t), t.TempDir()
	for _, side := range []model.Side{model.OnHost, model.OnDevice} {
		config := treeConfig()
		config.GPU.BG2, config.GPU.Devices = side, 2
		_, summary := runTree(t, config, onCards(t, l, 0), dir)
		if summary.JobsFailed != treeJobs {
			t.Errorf("b_g2 on the %s: %+v, want every proof refused", side, summary)
		}
		for _, err := range summary.Failures {
			if !strings.Contains(err.Error(), "finish: groth16: proof of job ") {
				t.Errorf("b_g2 on the %s: %v, want a proof refused", side, err)
			}
		}
	}
}

func TestDeviceOnASmallCardWithoutACard(t *testing.T) { smallCard(t, fakeLibrary(t)) }

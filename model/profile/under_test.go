package profile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
	"headroom/model/profile"
)

func TestBG2MovesItsWorkToTheOtherSide(t *testing.T) {
	k := small().Kinds[0]
	k.Work[model.Finish] = profile.Work{Law: profile.Constant, Mean: profile.Exactly(3 * model.Second)}
	c := model.DefaultConfig(1)
	c.GPU.BG2 = model.OnDevice
	if _, err := k.Under(&c); err == nil {
		t.Error("a kind was moved of which nothing is known")
	}
	k.BG2 = &profile.BG2{Recorded: model.OnHost, Host: profile.Exactly(2 * model.Second), Device: profile.Exactly(model.Second / 2)}
	moved, err := k.Under(&c)
	if err != nil {
		t.Fatal(err)
	}
	if finish, kernel := moved.Work[model.Finish].Mean.Value, moved.Work[model.Kernel].Mean.Value; finish != model.Second || kernel != 3*model.Second/2 {
		t.Errorf("finish takes %s and the kernel %s: want 1s and 1.5s", finish, kernel)
	}
	if k.Work[model.Finish].Mean.Value != 3*model.Second {
		t.Error("the kind itself was changed")
	}
	moved.BG2 = &profile.BG2{Recorded: model.OnDevice, Host: k.BG2.Host, Device: k.BG2.Device}
	c.GPU.BG2 = model.OnHost
	back, err := moved.Under(&c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(k.Work, back.Work); diff != "" {
		t.Errorf("there and back (-want +got):\n%s", diff)
	}
}

func TestAPoolHoldsTheVectorsOfASynthesisFromItsStart(t *testing.T) {
	point := func(progress float64, bytes model.Bytes) profile.Point {
		return profile.Point{Progress: progress, Bytes: profile.Exactly(bytes)}
	}
	k := small().Kinds[0]
	k.Footprint.Vectors = profile.Exactly[model.Bytes](12)
	k.Footprint.During = map[model.Stage][]profile.Point{model.Synth: {point(0, 0), point(0.8, 4), point(1, 20)}}
	c := model.DefaultConfig(1)
	c.Pool = model.PoolRetain
	pooled, err := k.Under(&c)
	if err != nil {
		t.Fatal(err)
	}
	want := []profile.Point{point(0, 0), point(0.8, 4), point(0.8500000000000001, 8), point(1, 8)}
	if diff := cmp.Diff(want, pooled.Footprint.During[model.Synth]); diff != "" {
		t.Errorf("besides the vectors (-want +got):\n%s", diff)
	}
	if k.Footprint.During[model.Synth][2].Bytes.Value != 20 {
		t.Error("the kind itself was changed")
	}
}

func TestTheLiveProverPinsWhatAPoolRetains(t *testing.T) {
	k := small().Kinds[0]
	k.Footprint.Vectors, k.Footprint.Pinned = profile.Exactly[model.Bytes](12), profile.Exactly[model.Bytes](9)
	for _, c := range []struct {
		circuit *model.Circuit
		pool    model.Pool
		want    model.Bytes
	}{{nil, model.PoolNone, 9}, {&model.Circuit{}, model.PoolNone, 0}, {&model.Circuit{}, model.PoolRetain, 9}} {
		config := model.DefaultConfig(1)
		k.Circuit, config.Pool = c.circuit, c.pool
		under, err := k.Under(&config)
		if err != nil {
			t.Fatal(err)
		}
		if got := under.Footprint.Pinned.Value; got != c.want {
			t.Errorf("circuit %v, pool %s: %v are pinned, want %v", c.circuit, c.pool, got, c.want)
		}
	}
}

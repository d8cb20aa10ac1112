package calibrate_test

import (
	"math"
	"testing"

	"headroom/calibrate"
	"headroom/model"
	"headroom/model/trace"
)

// recordings returns three short recordings of the truth, as one would make them.
func recordings(t testing.TB) []*trace.Trace {
	p := truth()
	return []*trace.Trace{
		recorded(t, p, config(1, model.AfterFinish, 1), 12, 1, 1e6),
		recorded(t, p, config(2, model.AfterSend, 2), 12, 2, 1e6),
		recorded(t, p, config(3, model.AfterSynthesis, 3), 12, 3, 1e6),
	}
}

func TestUnseenConfigurationsArePredicted(t *testing.T) {
	p, _, err := calibrate.Fit(recordings(t), calibrate.Options{Name: "small"})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []model.Config{
		config(4, model.AfterSynthesis, 4), config(2, model.AfterSynthesis, 4), config(2, model.AfterKernel, 2),
	} {
		unseen := recorded(t, truth(), c, 20, uint64(100+i), 1e6)
		compared, err := calibrate.Compare(p, unseen, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{calibrate.AboveBaseline, calibrate.SecondsPerJob} {
			if m := compared.Metric(name); math.Abs(m.Error) > 0.03 {
				t.Errorf("configuration %d: %s is predicted as %+v, measured as %g", i, name, m.Predicted, m.Measured)
			}
		}
		if !compared.VerdictRight {
			t.Errorf("configuration %d: verdict %s, outcome %s", i, compared.Verdict, compared.Outcome)
		}
	}
}

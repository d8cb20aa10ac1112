package calibrate_test

import (
	"math"
	"testing"

	"headroom/calibrate"
	"headroom/model"
)

func TestUnseenConfigurationsArePredicted(t *testing.T) {
	p, _, err := calibrate.Fit(recordings(), calibrate.Options{Name: "small"})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []model.Config{
		config(4, model.AfterSynthesis, 4), config(2, model.AfterSynthesis, 4), config(2, model.AfterKernel, 2),
	} {
		unseen := recorded(truth(), c, 20, uint64(100+i), 1e6)
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

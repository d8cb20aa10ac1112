package probe

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
)

func TestProcessReadsTheResidentMemoryOfAStatusFile(t *testing.T) {
	root := plantFile(t, "2641", "hybrid.txt")
	got, err := root.Process(2641)
	if err != nil {
		t.Fatal(err)
	}
	want := Process{Resident: 1752 * model.KiB, Anon: 108 * model.KiB, File: 1644 * model.KiB, HighWater: 1752 * model.KiB}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("process (-want +got):\n%s", diff)
	}
}

func TestAProcessWithoutMemoryHasEnded(t *testing.T) {
	root := plant(t, "7", "-- proc/7/status --\nName:\tprover\nState:\tZ (zombie)\nPid:\t7")
	for _, pid := range []int{7, 8} {
		if _, err := root.Process(pid); !errors.Is(err, ErrEnded) {
			t.Errorf("process %d: %v, want ErrEnded", pid, err)
		}
	}
}

func TestWithoutProcTheErrorNamesLinux(t *testing.T) {
	root := Root(t.TempDir())
	_, processErr := root.Process(1)
	_, cgroupErr := root.Cgroup(1)
	_, limitErr := root.Limits(1)
	_, mapsErr := root.Maps(1)
	_, hostErr := root.Host(t.Context(), 1)
	_, examineErr := root.Examine(t.Context(), 1)
	_, machineErr := root.Machine()
	_, pressureErr := root.Pressure(CPU)
	for _, err := range []error{processErr, cgroupErr, limitErr, mapsErr, hostErr, examineErr, machineErr, pressureErr} {
		if err == nil || !strings.Contains(err.Error(), "Linux only") {
			t.Errorf("error is %v, want one that says Linux only", err)
		}
	}
}

func TestResettingTheHighWaterMarkWritesTheKernelsCode(t *testing.T) {
	root := plant(t, "7", "-- proc/7/clear_refs --")
	if err := root.ResetHighWater(); err != nil {
		t.Fatal(err)
	}
	if text, err := readText(root.path("proc/7/clear_refs")); err != nil || text != "5" {
		t.Errorf("clear_refs got %q, %v, want 5", text, err)
	}
	if err := plant(t, "7").ResetHighWater(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without clear_refs: %v, want fs.ErrNotExist", err)
	}
}

func TestPressureReadsStallsOfTheMachine(t *testing.T) {
	root := plant(t, "7", `-- proc/pressure/memory --
some avg10=1.50 avg60=0.17 avg300=0.13 total=1375037
full avg10=0.25 avg60=0.14 avg300=0.10 total=1165930
-- proc/pressure/cpu --
some avg10=14.35 avg60=5.22 avg300=1.65 total=7908358
-- proc/pressure/io --
full avg10=0.00 avg60=0.00 avg300=0.00 total=0`)
	for _, c := range []struct {
		resource Resource
		want     Pressure
	}{
		{Memory, Pressure{SomeAvg10: 1.5, FullAvg10: 0.25, Some: 1375037 * model.Microsecond, Full: 1165930 * model.Microsecond}},
		{CPU, Pressure{SomeAvg10: 14.35, Some: 7908358 * model.Microsecond}},
	} {
		got, err := root.Pressure(c.resource)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("pressure of %s (-want +got):\n%s", c.resource, diff)
		}
	}
	if _, err := root.Pressure(IO); err == nil || !strings.Contains(err.Error(), "some") {
		t.Errorf("without a some line: %v", err)
	}
	if _, err := plant(t, "7").Pressure(IO); err == nil || !strings.HasPrefix(err.Error(), "probe: pressure: ") {
		t.Errorf("without PSI: %v", err)
	}
}

func TestMachineIsDescribedWithoutItsName(t *testing.T) {
	got, err := plantFile(t, "2641", "hybrid.txt").Machine()
	if err != nil {
		t.Fatal(err)
	}
	want := Machine{
		CPU: "AMD EPYC", Cores: 2, CoresAllowed: 2, Kernel: "6.18.44-fc-v657",
		RAM: 24684092 * model.KiB,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machine (-want +got):\n%s", diff)
	}
	if text := got.String(); text != "AMD EPYC, 2 cores, 23.5 GiB RAM, Linux 6.18.44-fc-v657" {
		t.Errorf("description is %q", text)
	}
	if e, pages := got.CounterError(), model.Bytes(3*2*32); e != pages*model.Bytes(os.Getpagesize()) {
		t.Errorf("counters of two cores are off by %s, want %d pages", e, pages)
	}
	got.CPU, got.CoresAllowed = "", 1
	if text := got.String(); text != "unknown processor, 1 of 2 cores, 23.5 GiB RAM, Linux 6.18.44-fc-v657" {
		t.Errorf("description is %q", text)
	}
}

func TestMachineReportsEverythingThatIsMissing(t *testing.T) {
	_, err := plant(t, "7", "-- proc/meminfo --\nMemFree: 5 kB").Machine()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"MemTotal", "cpuinfo", "osrelease", "status"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

func TestDamagedProcessFilesAreNamed(t *testing.T) {
	root := plant(t, "7", "-- proc/7/status --\nVmRSS:\t 5 MB\n-- proc/pressure/io --\nsome avg10=101 total=1")
	_, err := root.Process(7)
	_, pressureErr := root.Pressure(IO)
	for want, err := range map[string]error{
		`proc/7/status: VmRSS is "5 MB", not a number of kB`: err,
		`proc/pressure/io: "some avg10=101 total=1" is not`:  pressureErr,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}

func FuzzStatus(f *testing.F) {
	f.Add("Name:\tprover\nVmHWM:\t    1752 kB\nVmRSS:\t    1752 kB\nRssAnon:\t     108 kB\n")
	f.Add("VmHWM:\t18446744073709551615 kB")
	f.Add("VmRSS: -1 kB\nRssShmem\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseStatus(text)
		if p.HighWater < 0 || p.Resident < 0 || p.Anon < 0 || p.File < 0 || p.Shmem < 0 || err != nil && p != (Process{}) {
			t.Errorf("%q gives %+v, %v", text, p, err)
		}
	})
}

func FuzzPressure(f *testing.F) {
	f.Add("some avg10=1.50 avg60=0.17 avg300=0.13 total=1375037\nfull avg10=0.25 avg60=0.14 avg300=0.10 total=1165930")
	f.Add("some avg10=NaN total=1")
	f.Add("some\nfull avg10=")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePressure(text)
		share := func(x float64) bool { return x >= 0 && x <= 100 }
		if !share(p.SomeAvg10) || !share(p.FullAvg10) || p.Some < 0 || p.Full < 0 || err != nil && p != (Pressure{}) {
			t.Errorf("%q gives %+v, %v", text, p, err)
		}
	})
}

func FuzzCPUInfo(f *testing.F) {
	f.Add("processor\t: 0\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\nmodel name\t: AMD EPYC\n")
	f.Add("processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\n")
	f.Add(":\n:processor\nprocessor")
	f.Fuzz(func(t *testing.T, text string) {
		name, processors := parseCPUInfo(text)
		if processors > strings.Count(text, "processor") || !strings.Contains(text, name) {
			t.Errorf("%q gives %q, %d", text, name, processors)
		}
	})
}

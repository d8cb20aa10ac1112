//go:build linux

package confine

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"headroom/backend/probe"
	"headroom/model"
)

// eaterSize names the environment variable that turns the test binary into a child that eats as much as it says.
const eaterSize = "CONFINE_TEST_EAT"

// eaterChild makes the eater start another process first: "child" in its process group, "daemon" in a new session,
// "confined" as a Child of its own in the same cgroup, of which it says what came of it.
const eaterChild = "CONFINE_TEST_CHILD"

func TestMain(m *testing.M) {
	if size, set := os.LookupEnv(eaterSize); set {
		eat(size)
	}
	os.Exit(m.Run())
}

// eat takes memory, says "full", stays until its standard input ends, and exits with code 7.
func eat(size string) {
	kind := os.Getenv(eaterChild)
	if kind == "confined" {
		confineEater(size)
	}
	if kind != "" {
		child := exec.Command("/proc/self/exe")
		child.Env = append(os.Environ(), eaterSize+"=1MiB", eaterChild+"=")
		child.Stdin, child.Stdout = os.Stdin, os.Stdout
		child.SysProcAttr = &unix.SysProcAttr{Setsid: kind == "daemon"}
		must(child.Start())
	}
	amount, err := model.ParseBytes(size)
	must(err)
	block, err := unix.Mmap(-1, 0, int(amount), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	must(err)
	for i := 0; i < len(block); i += os.Getpagesize() {
		block[i] = 1
	}
	fmt.Println("full")
	_, err = io.Copy(io.Discard, os.Stdin)
	must(err)
	os.Exit(7)
}

// confineEater starts an eater without a limit, which the cgroup of both may kill, and says how it ended.
func confineEater(size string) {
	own, err := probe.Live.Cgroup(os.Getpid())
	must(err)
	if g := own.Groups[0]; g.Version == 2 { // where a cgroup is else killed as a whole
		must(os.WriteFile(filepath.Join(g.Dir, "memory.oom.group"), []byte("0"), 0))
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), eaterSize+"="+size, eaterChild+"=")
	child, err := Start(context.Background(), cmd, 0, Options{})
	must(err)
	out, err := child.Wait()
	must(err)
	fmt.Printf("starved %t, killed %t, signal %s\n", out.Starved, out.Killed, out.Signal)
	os.Exit(7)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "eater:", err)
		os.Exit(1)
	}
}

// eater is a command that eats the given size. It goes on until its input is closed.
type eater struct {
	*exec.Cmd
	input  io.WriteCloser
	output io.ReadCloser
}

func newEater(t *testing.T, size model.Bytes, child string) eater {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), eaterSize+"="+size.String(), eaterChild+"="+child)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	return eater{Cmd: cmd, input: input, output: output}
}

// waitFull returns when n processes have said that they are full.
func (e eater) waitFull(t *testing.T, n int) {
	t.Helper()
	if _, err := io.ReadFull(e.output, make([]byte, n*len("full\n"))); err != nil {
		t.Fatalf("the child did not say that it is full: %v", err)
	}
}

// Package cli is the commands of headroom, one file each: a command parses its flags, calls the libraries, and
// renders what they return. Results go to standard output, everything else to standard error.
//
// Open root.go first: it has what the commands share. A new command is a method of app that returns a
// cobra.Command whose RunE is app.entry, and a line in app.root.
package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"headroom/cmd/internal/render"
	"headroom/model/strict"
	"headroom/sim"
)

// The exit codes of headroom.
const (
	OK         = 0
	Failure    = 1 // an error that is no other code's
	Usage      = 2 // a command that makes no sense, or refused input
	Broken     = 3 // a limit is, or is predicted to be, broken
	Unfit      = 4 // the profile is not good enough
	Infeasible = 5 // no configuration does what is asked
)

// ExitError ends a command with an exit code. Err is nil when the result that was printed says it all.
type ExitError struct {
	Code int
	Err  error
}

// Error returns the message, or the code if there is none.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the error that ended the command.
func (e *ExitError) Unwrap() error { return e.Err }

// refuse returns an error that ends a command with Usage.
func refuse(err error) error {
	if err == nil {
		return nil
	}
	return &ExitError{Code: Usage, Err: err}
}

// app is one call of headroom: the shared flags and where output goes.
type app struct {
	stdout, stderr io.Writer
	json, quiet    bool
	entered        bool // a command has begun; what went wrong before was its flags or arguments
}

// Run executes the command that args, without the program's name, ask for and returns its exit code. Ending ctx
// interrupts it.
func Run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	a := &app{stdout: stdout, stderr: stderr}
	help := &noting{Writer: stdout}
	root := a.root()
	root.SetOut(help)
	root.SetArgs(append([]string{}, args...))
	err := root.ExecuteContext(ctx)
	code := Failure
	var exit *ExitError
	var plan *sim.PlanError
	switch {
	case help.err != nil:
		err = fmt.Errorf("writing the help: %w", help.err)
	case err == nil:
		return OK
	case errors.As(err, &exit):
		code, err = exit.Code, exit.Err
	case !a.entered, errors.As(err, &plan):
		code = Usage
	}
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
		err = errInterrupted
	}
	if err != nil {
		fmt.Fprintf(stderr, "headroom: %s\n", printable(strings.TrimSpace(err.Error())))
	}
	return code
}

// printable writes out the characters of a text that would tell a terminal to do something. Errors quote what is in files.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// noting passes on what is written and keeps the first error, which cobra drops where it prints help.
type noting struct {
	io.Writer
	err error
}

// Write passes on and keeps the first error.
func (n *noting) Write(p []byte) (int, error) {
	written, err := n.Writer.Write(p)
	n.err = cmp.Or(n.err, err)
	return written, err
}

// Version names the program and its version, as traces have it.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return "headroom " + info.Main.Version
	}
	return "headroom (devel)"
}

// root returns the command tree.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "headroom",
		Short:         "Predict the memory and the speed of a GPU prover's pipeline before it runs",
		Long:          rootLong,
		Args:          a.knownCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       Version(),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.RunE = a.entry(func(context.Context, []string) error {
		return refuse(errors.New("which command? headroom help lists them"))
	})
	root.SetErr(a.stderr)
	root.SetHelpCommand(a.help())
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return refuse(fmt.Errorf("%w (%s --help lists the flags)", err, c.CommandPath()))
	})
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print the result as JSON")
	root.PersistentFlags().BoolVar(&a.quiet, "quiet", false, "show no progress")
	root.AddCommand(
		a.simulate(), a.risk(), a.explain(), a.stalls(), a.scenarios(), a.check(), a.diagnose(), a.record(), a.calibrate(),
		a.compare(), a.demo(), a.doctor(), a.child(),
	)
	return root
}

// help returns the command that prints the help of another. Cobra's own says of a command that there is not nothing but
// the help of the program.
func (a *app) help() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Say what a command does and which flags it has",
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err == nil && len(rest) > 0 {
				err = a.knownCommand(found, rest)
			}
			if err != nil {
				return err
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

const rootLong = `headroom simulates the pipeline of a GPU prover: whether a configuration runs out of
memory on a machine, how fast it is, and why.

Exit codes: 0 ok, 1 error, 2 usage or refused input, 3 a limit is broken (oom, stall),
4 the profile is not good enough, 5 nothing is feasible. A table over ranges exits with 0.`

// knownCommand refuses what is the name of no command.
func (a *app) knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := "headroom help lists the commands"
	if near := strict.Closest(args[0], names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fmt.Errorf("unknown command %q: %s", args[0], hint)
}

// exactly accepts just the arguments that are named.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		wanted := cmp.Or(strings.Join(names, " "), "no arguments")
		return fmt.Errorf("%s takes %s, and was given %q", c.CommandPath(), wanted, args)
	}
}

// oneOrMore accepts any number of arguments of a name but none.
func oneOrMore(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return fmt.Errorf("%s takes one %s or more, and was given none", c.CommandPath(), name)
	}
}

// entry wraps what a command does, so that errors from here on are not taken for wrong usage.
func (a *app) entry(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		a.entered = true
		return run(c.Context(), args)
	}
}

// print writes a result to standard output at once, so that an error leaves nothing half-written there.
func (a *app) print(result func(render.Text) error) error {
	var buffer bytes.Buffer
	if err := result(render.Text{W: &buffer, Color: a.colors()}); err != nil {
		return err
	}
	if _, err := a.stdout.Write(buffer.Bytes()); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// show prints a result as JSON if that was asked for, else as text.
func (a *app) show(json any, text func(render.Text)) error {
	return a.print(func(t render.Text) error {
		if a.json {
			return render.JSON(t.W, json)
		}
		text(t)
		return nil
	})
}

var errInterrupted = errors.New("interrupted")

// await returns what f returns. If ctx ends first it returns an error, and f goes on unheard until the program ends.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	var zero T
	if ctx.Err() != nil {
		return zero, errInterrupted
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return zero, errInterrupted
	}
}

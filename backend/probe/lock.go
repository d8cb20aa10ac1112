package probe

import (
	"fmt"
	"strconv"
	"strings"

	"headroom/model"
)

// lockedLimits returns the memlock of a process, which bounds what it may lock into memory. The kernel does not hold
// those to it who have CAP_IPC_LOCK in the first user namespace.
func (r Root) lockedLimits(pid int) (Limits, error) {
	dir := r.processDir(pid)
	file := dir + "/limits"
	text, err := readText(file)
	if err != nil {
		return nil, r.fault(pid, err)
	}
	limit := Limit{Of: LockedMemory, Name: "memlock", File: file}
	if limit.Bytes, err = parseLocked(text); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	status, err := readText(dir + "/status")
	if err != nil {
		return nil, r.fault(pid, err)
	}
	limit.Used = Unknown
	if locked, found := statusField(status, "VmLck"); found {
		if limit.Used, err = parseKiB(locked); err != nil {
			return nil, fmt.Errorf("%s/status: VmLck is %w", dir, err)
		}
	}
	if limit.Bytes != NoLimit && mayLock(dir, status) {
		limit.Bytes, limit.Name = NoLimit, fmt.Sprintf("memlock of %s, which CAP_IPC_LOCK lifts", limit.Bytes.Short())
	}
	return Limits{limit}, nil
}

// parseLocked returns the soft limit of locked memory.
func parseLocked(text string) (model.Bytes, error) { return parseMax(text, "locked memory") }

// parseMax returns the soft limit in a line such as "Max locked memory  8388608  8388608  bytes".
func parseMax(text, of string) (model.Bytes, error) {
	for line := range strings.Lines(text) {
		rest, found := strings.CutPrefix(line, "Max "+of+" ")
		if !found {
			continue
		}
		soft, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if soft == "unlimited" {
			return NoLimit, nil
		}
		number, err := strconv.ParseInt(soft, 10, 64)
		if err != nil || number < 0 {
			return 0, fmt.Errorf(`max %s is %q, neither a number of bytes nor "unlimited"`, of, soft)
		}
		return model.Bytes(number), nil
	}
	return 0, fmt.Errorf("there is no line of the max %s", of)
}

// mayLock reports whether the limit is lifted: the capability counts only in the first user namespace, which alone
// maps every user to itself.
func mayLock(dir, status string) bool {
	const ipcLock = 14 // CAP_IPC_LOCK
	effective, _ := statusField(status, "CapEff")
	mask, err := strconv.ParseUint(effective, 16, 64)
	if err != nil || mask>>ipcLock&1 == 0 {
		return false
	}
	users, err := readText(dir + "/uid_map")
	return err == nil && strings.Join(strings.Fields(users), " ") == "0 0 4294967295"
}

// statusField returns the value of a key in a status file.
func statusField(text, key string) (string, bool) {
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, key+":"); found {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

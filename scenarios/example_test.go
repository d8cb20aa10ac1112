package scenarios_test

import (
	"fmt"

	"headroom/scenarios"
)

const text = `schema: 1
machine: {ram: 64GiB}
config:
  admission: {permits: 12, release: after_send}
workload: {jobs: 20, kind: small}
kinds:
  small: {circuit: mimc, log2_constraints: 13, partitions: 4, data: 64MiB}
`

func ExampleExpand() {
	variants, err := scenarios.Expand([]byte(text), "small.yaml", []string{"config.admission.permits=8..10", "machine.ram=32GiB"}, nil)
	for _, v := range variants {
		fmt.Println(v.Settings, v.Scenario.Config.Admission.Permits, v.Scenario.Machine.RAM)
	}
	fmt.Println(err)
	// Output:
	// [config.admission.permits=8 machine.ram=32GiB] 8 32GiB
	// [config.admission.permits=9 machine.ram=32GiB] 9 32GiB
	// [config.admission.permits=10 machine.ram=32GiB] 10 32GiB
	// <nil>
}

func ExampleParse_wrong() {
	_, err := scenarios.Parse([]byte("schema: 1\nmachine: {rom: 64GiB}\nworkload: {jobs: 1, kind: small}\n"), "small.yaml", nil)
	fmt.Println(err)
	// Output:
	// scenario: small.yaml:2:11: machine.rom is not a key here: did you mean ram? the keys are ram, reserve, gpus, cores, memory_bandwidth, numa, cgroup_limit, shm, memlock
	//     2 | machine: {rom: 64GiB}
	//       |           ^
}

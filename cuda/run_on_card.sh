#!/usr/bin/env bash
# Builds the library for the card of this machine, checks it, looks for bad memory accesses and races where
# compute-sanitizer is there, and times it. It needs nvcc, a C++ compiler and make.
#
#   cuda/run_on_card.sh [log of the largest size, 24 by default]
set -euo pipefail
cd "$(dirname "$0")"
largest=${1:-24}
for program in nvidia-smi nvcc; do
	if ! command -v "$program" >/dev/null; then
		echo "run_on_card.sh: $program is not here: run it on a machine with a card, its driver and the CUDA toolkit" >&2
		exit 1
	fi
done
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1)

say() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

say "build for sm_${capability/./}"
make -j"$(nproc)" ARCH="sm_${capability/./}"
say "check"
build/check
if command -v compute-sanitizer >/dev/null; then
	for tool in memcheck racecheck initcheck; do
		say "compute-sanitizer $tool"
		compute-sanitizer --tool "$tool" --error-exitcode 1 build/check small
	done
else
	say "compute-sanitizer is not here: its checks were not made"
fi
say "times"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
build/bench "$largest"

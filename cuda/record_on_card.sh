#!/usr/bin/env bash
# Records configurations on the cards of this machine: one trace for each line of its standard input, which is a name and
# what record is told besides, such as
#
#   late --set config.free_vectors=after_finish
#   small --cuda-memory 350MiB
#
#   cuda/record_on_card.sh SCENARIO FOLDER < LINES
#
# It needs a program headroom that was built with cgo (HEADROOM, else built here) and the library
# (HEADROOM_CUDA_LIBRARY, else built here with nvcc). A run that fails or is killed leaves its trace too, and the script
# ends with 1 after all runs.
set -euo pipefail
scenario=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
cd "$(dirname "$0")/.."
if [ -z "${HEADROOM_CUDA_LIBRARY:-}" ]; then
	capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1)
	make -C cuda -j"$(nproc)" ARCH="sm_${capability/./}"
	export HEADROOM_CUDA_LIBRARY=$PWD/cuda/build/libheadroom_cuda.so
fi
if [ -z "${HEADROOM:-}" ]; then
	CGO_ENABLED=1 go build -o bin/headroom ./cmd/headroom
	HEADROOM=$PWD/bin/headroom
fi
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
failed=0
while read -r name arguments; do
	[ -n "$name" ] || continue
	printf '\n== %s %s\n' "$name" "$arguments"
	# shellcheck disable=SC2086 # the arguments are words
	"$HEADROOM" record "$scenario" --device cuda --sample 5ms --out "$folder/$name.jsonl.zst" $arguments </dev/null ||
		failed=1
done
exit $failed

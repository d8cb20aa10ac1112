#!/usr/bin/env bash
# Records the runs of a plan on the cards of this machine, and calibrates on the way:
#
#   cuda/record_on_card.sh FOLDER [SECONDS]
#
# The folder has a scenario.yaml and a plan.txt. A line of the plan is a role, a name, a budget in seconds, and what
# record is told besides the scenario. Runs of the role calibrate come first; from their traces the profile.yaml is made,
# which predicts the runs of the role predict before they are recorded. Each run leaves NAME.jsonl.zst in the folder once
# it is over, also when it fails as it should: what is predicted to fail, or counts on more than this machine has, is run all
# the same. A run whose trace is there already is left out, so that the script can be called again for what is missing; so is
# one whose budget is more than what is left of SECONDS, and the ones after it are tried. The script ends with 1 if a trace of
# the plan is missing then.
#
# It takes a program headroom that was built with cgo (HEADROOM, else built here), the library of kernels
# (HEADROOM_CUDA_LIBRARY, else built here with nvcc) and a folder for keys (KEYS, else the user's cache). DEVICE=cpu
# records on the processors instead, where the scenario must have b_g2: host and sizes that these prove in the time.
set -euo pipefail
set -f # arguments in a plan are words, not patterns
folder=$(realpath "${1:?which folder? record_on_card.sh FOLDER [SECONDS]}")
most=${2:-86400}
device=${DEVICE:-cuda}
cd "$(dirname "$0")/.."
if [ "$device" = cuda ]; then
	if ! command -v nvidia-smi >/dev/null; then
		echo "record_on_card.sh: nvidia-smi is not here, so there is no card: run it on a machine with one, or with DEVICE=cpu" >&2
		exit 1
	fi
	if [ -z "${HEADROOM_CUDA_LIBRARY:-}" ]; then
		capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1)
		make -C cuda -j"$(nproc)" ARCH="sm_${capability/./}"
		export HEADROOM_CUDA_LIBRARY=$PWD/cuda/build/libheadroom_cuda.so
	fi
	HEADROOM_CUDA_LIBRARY=$(realpath "$HEADROOM_CUDA_LIBRARY")
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
fi
if [ -z "${HEADROOM:-}" ]; then
	CGO_ENABLED=1 go build -o bin/headroom ./cmd/headroom
	HEADROOM=$PWD/bin/headroom
fi
HEADROOM=$(realpath "$HEADROOM")
cd "$folder"

say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }

# record NAME BUDGET ARGUMENTS... records a run whose trace is not there yet.
record() {
	local name=$1 budget=$2 code=0
	shift 2
	if [ -e "$name.jsonl.zst" ]; then
		return
	fi
	if ((SECONDS + budget > most)); then
		say "$name: left out, $budget s are not left"
		return
	fi
	say "$name: $*"
	timeout --signal=INT --kill-after=10 $((3 * budget)) "$HEADROOM" record scenario.yaml --device "$device" \
		${KEYS:+--keys "$KEYS"} --out partial.jsonl.zst --force "$@" </dev/null 2>partial.log || code=$?
	grep -v '^time=' partial.log || true
	# A run whose jobs fail ends with 1, one that its limit killed with 3: both are what a plan may ask for.
	if ((code == 0 || code == 1 || code == 3)) && "$HEADROOM" check partial.jsonl.zst >partial.log 2>&1; then
		mv partial.jsonl.zst "$name.jsonl.zst"
		say "$name: recorded, exit code $code"
	else
		say "$name: NOT RECORDED, exit code $code"
	fi
	rm -f partial.jsonl.zst partial.log
}

# calibrate makes the profile if it is not there yet, and tries once. Code 4 says that it is not good enough, but it is
# there.
calibrated=
calibrate() {
	local code=0 traces
	if [ -n "$calibrated" ] || [ -e profile.yaml ]; then
		return
	fi
	calibrated=tried
	traces=$(awk '$1 == "calibrate" { print $2 ".jsonl.zst" }' plan.txt)
	say "calibrating from" $traces
	# shellcheck disable=SC2086 # one word for each trace
	"$HEADROOM" calibrate $traces --out profile.yaml --name "$(basename "$folder")" </dev/null || code=$?
	say "calibrated, exit code $code"
}

missing=0
while read -r role name budget arguments; do
	case $role in
	calibrate) profile= ;;
	predict)
		calibrate
		profile=
		[ ! -e profile.yaml ] || profile="--profile profile.yaml"
		;;
	*) continue ;;
	esac
	# shellcheck disable=SC2086 # the arguments are words
	record "$name" "$budget" $profile $arguments
	[ -e "$name.jsonl.zst" ] || missing=1
done <plan.txt
say "over"
exit $missing

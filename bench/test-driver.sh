#!/bin/bash
# SPDX-License-Identifier: MIT
#
# test-driver.sh - the driver with participants whose figures are known.
#
#   bench/test-driver.sh path/to/sley-bench
set -eu

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/programs"
cp "$1" "$dir/sley-bench"
bench=$dir/sley-bench

fail()
{
	echo "FAILED: $*" >&2
	exit 1
}

# program NAME BODY - a participant
program()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$dir/programs/$1"
	chmod +x "$dir/programs/$1"
}

expect()
{
	grep -qF -- "$1" "$dir/out" || {
		cat "$dir/out" >&2
		fail "expected: $1"
	}
}

run()
{
	"$bench" "$@" >"$dir/out" 2>&1
}

# Nothing is built: everybody is named, and the run does not pass.
! run mutex --peers --rounds 1 || fail "passes without sley"
expect "sley: missing"
expect "go: missing (Debian: golang-go)"

# Each round appends to one log, so that the order of the turns shows.
log="echo \"\$0 \$*\" | sed 's,.*/,,' >>'$dir/log'"
program sley "$log; wc -l <'$dir/log' | sed 's/^/ns /'"
program go "$log; echo ns 10"
program boost.fiber "$log; echo ns 100"
run mutex --peers --rounds 3 --json || fail "a good run"
expect '{"row":"mutex","about":"lock and unlock, uncontended","peer":"sley","workers":1,"metric":"ns","value":4,"n":3,"min":1,"max":7}'
expect '{"row":"mutex","about":"lock and unlock, uncontended","peer":"go","workers":1,"metric":"ns","value":10,"n":3,"min":10,"max":10,"ratio":0.4,"limit":13,"held":true}'
turns=$(sed 's/ .*//' "$dir/log" | tr '\n' ' ')
[ "$turns" = "sley go boost.fiber sley go boost.fiber sley go boost.fiber " ] ||
	fail "turns were: $turns"
grep -qx 'sley mutex 1' "$dir/log" || fail "arguments of a participant"

# Bars: 13 <= 1.3 * 10, 14 is not.
program sley 'echo ns 13'
run mutex --peers --rounds 1
expect "bars: 1 ok, 0 missed, 0 not judged"
program sley 'echo ns 14'
run mutex --peers --rounds 1
expect "bars: 0 ok, 1 missed, 0 not judged"
run mutex --rounds 1
expect "bars: 0 ok, 0 missed, 1 not judged (see --peers)"

# Against ourselves with one worker, which takes part in the same rounds: 100
# is 1.6 times faster than 160, 101 is not.
program go 'exit 77'
program sley 'case $2 in 1) echo ns 160 ;; *) echo ns 100 ;; esac'
run skynet --peers --rounds 1 --workers 2
expect ">= 1.60x faster  ok"
expect "bars: 1 ok, 0 missed, 0 not judged"
run skynet --peers --rounds 1 --workers 1
! grep -q sley-1 "$dir/out" || fail "is measured against itself"
program sley 'case $2 in 1) echo ns 160 ;; *) echo ns 101 ;; esac'
run skynet --peers --rounds 1 --workers 2
expect "bars: 0 ok, 1 missed, 0 not judged"

# Where the second worker cannot help: 192 is not slower than 160, 193 is.
program sley 'case $2 in 1) echo infer_ns 160 ;; *) echo infer_ns 192 ;; esac'
run dag-tree --peers --rounds 1 --workers 2
expect "<= 1.20x         ok"
program sley 'case $2 in 1) echo infer_ns 160 ;; *) echo infer_ns 193 ;; esac'
run dag-tree --peers --rounds 1 --workers 2
expect "bars: 0 ok, 1 missed, 2 not judged"

# Of GFLOP/s more is better: 97 of 100 are enough, 96 are not; 120 are wanted
# where tiles are small.
program sley-cholesky 'echo 2k_64_gflops 120; echo 2k_192_gflops 97'
program starpu-cholesky 'echo 2k_64_gflops 100; echo 2k_192_gflops 100'
run cholesky --peers --rounds 1 --workers 2
expect ">= 0.97x         ok"
expect "bars: 2 ok, 0 missed, 6 not judged"
program sley-cholesky 'echo 2k_64_gflops 119; echo 2k_192_gflops 96'
run cholesky --peers --rounds 1 --workers 2
expect "bars: 0 ok, 2 missed, 6 not judged"

# What we have only with a package may be missing, too.
rm "$dir/programs/sley-cholesky"
run cholesky --peers --rounds 1 --workers 2 || fail "wants a package"
expect "sley-cholesky: missing (Debian: libopenblas-dev)"
expect "bars: 0 ok, 0 missed, 8 not judged"

# Another form of our interface is held against the one figure of the peer,
# and two peers may have a bar each.
program sley 'echo ns 35; echo plain_ns 50'
program serial 'echo ns 10'
program tbb 'echo ns 699'
run fib --peers --rounds 1 --workers 1 --results "$dir/results"
expect "bars: 2 ok, 1 missed, 0 not judged"
grep -q '"serial".*"plain_ns".*"ratio":5,"limit":50,"held":true' \
	"$dir/results" || fail "results: $(cat "$dir/results")"

# Short of cores at the end of the second round: that one, and the third, for
# which it was the beginning, are repeated.
rm "$dir/log"
program sley "$log; wc -l <'$dir/log' | sed 's/^/ms /'"
program calibrate "echo >>'$dir/asked'
	[ \$(wc -l <'$dir/asked') -eq 3 ] && echo cores 1.7 || echo cores 1.9"
run coarse --rounds 3 --workers 2 --results "$dir/results" || fail "calibrates"
expect "(1.80 wanted)    2 repeated"
grep -q '"peer":"sley".*"value":4,"n":3,"min":1,"max":5' "$dir/results" ||
	fail "results: $(cat "$dir/results")"
grep -q '"calibration".*"value":1.9,.*"least":1.8,"repeated":2}' \
	"$dir/results" || fail "results: $(cat "$dir/results")"

# It does not go on for ever.
rm "$dir/log"
program calibrate 'echo cores 1.1'
run coarse --rounds 3 --workers 2 || fail "gives up on cores"
expect "3 repeated"
[ "$(wc -l <"$dir/log")" -eq 6 ] || fail "rounds: $(cat "$dir/log")"
run coarse --rounds 3 --workers 1
! grep -q calibration "$dir/out" || fail "calibrates one worker"
program calibrate 'exit 77'
run coarse --rounds 3 --workers 2 || fail "cannot calibrate"
! grep -q calibration "$dir/out" || fail "calibration out of nothing"
program go 'echo ns 10'
program sley 'echo ns 14'

# The objects go to a file while the table is printed.
run mutex --peers --rounds 1 --results "$dir/results" || fail "--results"
expect "bars: 0 ok, 1 missed"
grep -q '"peer":"go".*"ratio":1.4,"limit":13,"held":false}' "$dir/results" ||
	fail "results: $(cat "$dir/results")"
! run mutex --rounds 1 --results "$dir/no/such" || fail "writes nowhere"

# A wrong count, a crash or nonsense fails the run, whoever it was.
program go 'exit 1'
! run mutex --peers --rounds 1 || fail "passes with a wrong count"
expect FAILED
program go 'kill -SEGV $$'
! run mutex --peers --rounds 1 || fail "passes with a crash"
program go 'echo hello'
! run mutex --peers --rounds 1 || fail "passes with nonsense"
expect "not \`metric value\` lines"

# A machine that cannot run a row skips it.
program go 'exit 77'
run mutex --peers --rounds 1 || fail "a skipped peer"
expect skipped

# An earlier build takes part as one more peer, in the same rounds; the median of
# the ratios of the rounds counts, here 1.1, not the ratio of the medians, 2.2.
mkdir -p "$dir/old/bench/programs"
rm -f "$dir/log" "$dir/round"
program sley "$log; echo >>'$dir/round'
	case \$(wc -l <'$dir/round') in 1) echo ns 110 ;; 2) echo ns 440 ;; *) echo ns 220 ;; esac"
program before "$log
	case \$(wc -l <'$dir/round') in 1) echo ns 100 ;; 2) echo ns 400 ;; *) echo ns 50 ;; esac"
mv "$dir/programs/before" "$dir/old/bench/programs/sley"
run mutex --rounds 3 --before "$dir/old" --json || fail "--before"
expect '"peer":"before","workers":1,"metric":"ns","value":100,"n":3,"min":50,"max":400,"ratio":1.1,"limit":115,"held":true}'
[ "$(wc -l <"$dir/log")" -eq 6 ] || fail "turns were: $(cat "$dir/log")"
program sley 'echo ns 116'
printf '#!/bin/sh\necho ns 100\n' >"$dir/old/bench/programs/sley"
run mutex --rounds 1 --before "$dir/old"
expect "bars: 0 ok, 1 missed, 2 not judged"
run mutex --rounds 1
expect "bars: 0 ok, 0 missed, 1 not judged"
! run mutex --rounds 1 --before "$dir/none" || fail "a build that is not there"
expect "there is no folder $dir/none/bench/programs"

# Instructions: what valgrind has counted for both, one run each.
mkdir "$dir/bin"
cat >"$dir/bin/valgrind" <<-'END'
	#!/bin/sh
	echo "==1== Callgrind, a call-graph generating cache profiler"
	case "$*" in
	*/old/*) echo "==1== Collected : 1000" ;;
	*) echo "==1== Collected : $COUNTED" ;;
	esac
END
chmod +x "$dir/bin/valgrind"
PATH=$dir/bin:$PATH COUNTED=1150 run mutex --rounds 3 --before "$dir/old" \
	--instructions --json || fail "--instructions"
expect '"peer":"sley","workers":1,"metric":"instructions","value":1150,"n":1'
expect '"metric":"instructions","value":1000,"n":1,"min":1000,"max":1000,"ratio":1.15,"limit":1150,"held":true}'
PATH=$dir/bin:$PATH COUNTED=1151 run mutex --rounds 1 --before "$dir/old" \
	--instructions
expect "bars: 0 ok, 2 missed, 1 not judged"
printf '#!/bin/sh\necho nothing\n' >"$dir/bin/valgrind"
! PATH=$dir/bin:$PATH run mutex --rounds 1 --instructions ||
	fail "instructions out of nothing"

# Arguments.
! run nonsense || fail "takes an unknown row"
expect "no row nonsense"
! run mutex nonsense || fail "takes an unknown second row"
run mutex coarse --rounds 1 --workers 1 || fail "takes two rows"
expect "mutex             1"
expect "coarse            1"
! run mutex --workers 0 || fail "takes 0 workers"
! run switch --workers 2 || fail "takes 2 workers where there is one"
run --list || fail "--list"
[ "$(wc -l <"$dir/out")" -eq 86 ] || fail "--list names all rows, and they are 86"

echo "the driver does what it says"

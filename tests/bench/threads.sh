#!/bin/sh
# ThreadSanitizer over the unit tests of the rooms that start threads, and over whole runs on the fake engine: with 1 job and with 16, killed, asked to
# end, two at once. A report of a race fails the test that it is in (exit code 66).
# Usage: tests/bench/threads.sh            everything: half an hour of two processors, most of it the compiler's
#        tests/bench/threads.sh --smoke    processes and threads of the lowest room alone
set -eu

cd "$(dirname "$0")/../.."
rooms="base measure render audit doctor engine job collect prove"
targets=cudamatrix
if [ "${1:-}" = --smoke ]; then
    rooms=base
    targets=
fi
for room in $rooms; do
    targets="$targets unit_$room"
done
cmake --preset tsan
# shellcheck disable=SC2086 # a list of words
cmake --build --preset tsan --target $targets
# Where addresses are drawn from more than 28 bits, this sanitizer of clang 14 finds no room for its own.
fixed="setarch $(uname -m) -R"
$fixed true 2>/dev/null || fixed=
for room in $rooms; do
    echo "unit.$room"
    $fixed "build/tsan/tests/unit_$room"
done
[ "${1:-}" = --smoke ] || $fixed python3 tests/e2e/kill_test.py build/tsan/cudamatrix . 8 1 6

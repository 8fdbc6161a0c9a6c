#!/bin/sh
# Branch coverage of one folder of src/ by its unit tests (of rules: with the goldens, examples and incidents, which they run):
# one line for each file, then each condition that no test takes both ways. Fails below 100 %.
# The counts are clang's, of real conditions; gcc's also count the exception edges of every call.
# Usage: tests/bench/coverage.sh [FOLDER]   FOLDER is rules where it is left out; JOBS=N builds with N jobs
set -eu
cd "$(dirname "$0")/../.."
folder=${1:-rules}
build=build/coverage
program=$build/tests/unit_$folder
for tool in clang++-14 llvm-cov-14 llvm-profdata-14; do
    command -v "$tool" >/dev/null || { echo "coverage.sh: $tool is missing: sh cmake/install_packages.sh coverage" >&2; exit 3; }
done

cmake --preset coverage >/dev/null
cmake --build --preset coverage --target "unit_$folder" -j "${JOBS:-$(nproc)}" >"$build/$folder.build" ||
    { cat "$build/$folder.build" >&2; exit 1; }
LLVM_PROFILE_FILE=$build/$folder.profraw "$program" >"$build/$folder.log" || { cat "$build/$folder.log" >&2; exit 1; }
llvm-profdata-14 merge -o "$build/$folder.profdata" "$build/$folder.profraw"
llvm-cov-14 export "$program" -instr-profile="$build/$folder.profdata" -skip-expansions |
    python3 tests/bench/coverage_table.py "$(pwd)/$(find src -type d -name "$folder")"

#!/bin/sh
# The unit tests under the address and undefined-behaviour sanitizers. Usage: sanitizers.sh SOURCE_DIR
set -eu
cd "$1"
cmake --preset asan-ubsan >/dev/null
cmake --build --preset asan-ubsan -j "$(nproc)" | tail -n 3
ctest --preset asan-ubsan -L unit -j "$(nproc)"

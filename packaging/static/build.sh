#!/bin/sh
# Builds cudamatrix as one static program, which runs on any Linux: zig's clang, musl and libc++, and the libraries of this Debian or Ubuntu
# from their sources. For another processor it is a cross build. What is built already is kept.
# Usage: build.sh [x86_64|aarch64]     default: this machine's processor; the program is build/static-ARCH/cudamatrix
# CUDAMATRIX_STATIC_DIR is another folder than build, CUDAMATRIX_OPTIMISE another optimisation than -O2.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
arch=${1:-$(uname -m)}
case $arch in
    x86_64 | aarch64) ;;
    *) echo "build.sh: unknown processor '$arch': x86_64 or aarch64" >&2; exit 2 ;;
esac
base=${CUDAMATRIX_STATIC_DIR:-$top/build}
optimise=${CUDAMATRIX_OPTIMISE:--O2}
mkdir -p "$base/static-$arch"
base=$(cd "$base" && pwd)
build=$base/static-$arch
shared=$base/static
root=$build/root
jobs=$(nproc)
zig_version=0.17.1

say() { echo "build.sh: $*"; }

# The compiler comes from the Python index.
python=$shared/zig/bin/python
if ! "$python" -c "import importlib.metadata as m; assert m.version('ziglang') == '$zig_version'" 2>/dev/null; then
    say "fetching zig $zig_version"
    python3 -m venv "$shared/zig"
    "$python" -m pip install --quiet "ziglang==$zig_version"
fi
zig=$("$python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
ZIG_GLOBAL_CACHE_DIR=$shared/zig-cache
ZIG_LOCAL_CACHE_DIR=$shared/zig-cache
export ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR

# Compilers without arguments, as configure and CMake want them. No path of this machine comes into what they make.
mkdir -p "$root/bin" "$root/usr/include" "$root/usr/lib"
sources=$shared/sources
maps="-ffile-prefix-map=$root/usr/include/=include/ -ffile-prefix-map=$sources/=sources/ -ffile-prefix-map=$build/=build/ -ffile-prefix-map=$top/="
maps="$maps -ffile-prefix-map=$(dirname "$zig")/=zig/"
for tool in cc c++; do
    printf '#!/bin/sh\nexec "%s" %s -target %s-linux-musl -g0 -fno-sanitize=undefined %s "$@"\n' "$zig" $tool "$arch" "$maps" >"$root/bin/$tool"
done
for tool in ar ranlib; do
    printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" $tool >"$root/bin/$tool"
done
launcher=$(command -v ccache || true)
for tool in cc c++; do
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$launcher" "$root/bin/$tool" >"$root/bin/cached-$tool"
done
chmod +x "$root/bin/"*
# ccache would take the script for the compiler.
CCACHE_COMPILERCHECK="string:zig $zig_version $arch"
CCACHE_COMPILERTYPE=clang
CCACHE_BASEDIR=${CCACHE_BASEDIR:-$top}
CCACHE_NOHASHDIR=1
export CCACHE_COMPILERCHECK CCACHE_COMPILERTYPE CCACHE_BASEDIR CCACHE_NOHASHDIR

# Libraries that are headers only are this machine's.
boost_package=$(dpkg -S /usr/include/boost/version.hpp | cut -d: -f1)
boost=$(dpkg-query -W -f '${source:Package}' "$boost_package")
sh "$top/packaging/static/sources.sh" "$sources" openssl curl zlib yaml-cpp fmtlib "$boost"
for name in boost CLI nlohmann toml++; do
    ln -sfn "/usr/include/$name" "$root/usr/include/$name"
done
for package in libcli11-dev nlohmann-json3-dev; do
    dpkg -L "$package" | grep '/cmake/[^/]*/[^/]*\.cmake$' | while read -r file; do
        install -D -m 644 "$file" "$root$file"
    done
done

# library NAME SOURCE FUNCTION: builds it by FUNCTION in a folder of its own, once for each version.
library() {
    mark=$build/libraries/$1.done
    version="$optimise $(cat "$sources/$2/VERSION.debian") $(sed -n "/^$3()/,/^}/p" "$0" | cksum)"
    [ "$(cat "$mark" 2>/dev/null)" != "$version" ] || return 0
    say "$1 $(cat "$sources/$2/VERSION.debian")"
    rm -rf "$build/libraries/$1"
    mkdir -p "$build/libraries/$1"
    (cd "$build/libraries/$1" && $3 "$sources/$2") >"$build/libraries/$1.log" 2>&1 || {
        tail -n 40 "$build/libraries/$1.log" >&2
        say "$1 cannot be built: $build/libraries/$1.log" >&2
        exit 1
    }
    rm -rf "$build/libraries/$1"
    echo "$version" >"$mark"
}
by_cmake() {
    tree=$1
    shift
    cmake -G Ninja -S "$tree" -B . --toolchain "$top/packaging/static/toolchain.cmake" -DCUDAMATRIX_STATIC_ROOT="$root" \
        -DCUDAMATRIX_STATIC_ARCH="$arch" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="$optimise -DNDEBUG" -DCMAKE_CXX_FLAGS_RELEASE="$optimise -DNDEBUG" \
        -DCMAKE_INSTALL_PREFIX="$root/usr" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF \
        -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" "$@"
    cmake --build . -j "$jobs"
    cmake --install .
}
build_zlib() {
    for file in adler32 crc32 deflate infback inffast inflate inftrees trees zutil compress uncompr gzclose gzlib gzread gzwrite; do
        "$root/bin/cached-cc" "$optimise" -DNDEBUG -DHAVE_UNISTD_H -D_LARGEFILE64_SOURCE=1 -c "$1/$file.c" -o "$file.o"
    done
    "$root/bin/ar" rcs "$root/usr/lib/libz.a" ./*.o
    cp "$1/zlib.h" "$1/zconf.h" "$root/usr/include/"
}
build_openssl() {
    # Nothing but what TLS 1.2 and 1.3 of an HTTP client and SHA-256 need; no program, no module, no file of configuration.
    target=linux-$arch
    # The library keeps the words of its compiler: without a path.
    PATH=$root/bin:$PATH
    CC=cached-cc AR=ar RANLIB=ranlib CFLAGS="$optimise" "$1/Configure" "$target" --prefix=/usr --libdir=lib \
        --openssldir=/etc/ssl no-shared no-tests no-module no-engine no-dso no-async no-legacy no-ui-console no-autoload-config no-ssl-trace no-srp \
        no-psk no-cms no-ts no-ct no-ocsp no-comp no-idea no-camellia no-seed no-aria no-bf no-cast no-rc2 no-rc4 no-md4 no-mdc2 no-whirlpool no-rmd160 \
        no-sm2 no-sm3 no-sm4 no-siphash no-blake2 no-gost no-dtls no-ssl3 no-siv no-cmp no-srtp no-scrypt no-ec2m no-rfc3779 no-des no-dsa
    make -j "$jobs" -s build_libs
    cp libcrypto.a libssl.a "$root/usr/lib/"
    cp -r "$1/include/openssl" include/openssl "$root/usr/include/"
}
build_curl() {
    by_cmake "$1" -DBUILD_CURL_EXE=OFF -DHTTP_ONLY=ON -DCURL_USE_OPENSSL=ON -DOPENSSL_USE_STATIC_LIBS=ON -DCURL_CA_BUNDLE=none -DCURL_CA_PATH=none \
        -DCURL_USE_LIBPSL=OFF -DCURL_USE_LIBSSH2=OFF -DUSE_LIBIDN2=OFF -DUSE_NGHTTP2=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DCURL_DISABLE_NTLM=ON \
        -DCURL_DISABLE_OPENSSL_AUTO_LOAD_CONFIG=ON -DENABLE_MANUAL=OFF -DENABLE_UNIX_SOCKETS=OFF -DCURL_DISABLE_ALTSVC=ON -DCURL_DISABLE_HSTS=ON \
        -DPICKY_COMPILER=OFF -DBUILD_LIBCURL_DOCS=OFF -DBUILD_MISC_DOCS=OFF -DBUILD_STATIC_LIBS=ON
}
build_yaml() {
    by_cmake "$1" -DYAML_CPP_BUILD_TOOLS=OFF -DYAML_CPP_BUILD_CONTRIB=OFF -DYAML_CPP_BUILD_TESTS=OFF -DYAML_BUILD_SHARED_LIBS=OFF -DCMAKE_UNITY_BUILD=OFF
}
build_fmt() {
    by_cmake "$1" -DFMT_TEST=OFF -DFMT_DOC=OFF
}
build_boost() {
    for file in codecvt_error_category directory exception operations path path_traits portability unique_path utf8_codecvt_facet; do
        [ -e "$1/libs/filesystem/src/$file.cpp" ] || continue
        "$root/bin/cached-c++" "$optimise" -DNDEBUG -std=c++17 -DBOOST_FILESYSTEM_SOURCE -DBOOST_FILESYSTEM_STATIC_LINK=1 -DBOOST_FILESYSTEM_NO_CXX20_ATOMIC_REF \
            -I"$root/usr/include" -I"$1/libs/filesystem/src" -c "$1/libs/filesystem/src/$file.cpp" -o "$file.o"
    done
    "$root/bin/ar" rcs "$root/usr/lib/libboost_filesystem.a" ./*.o
    mkdir -p "$root/usr/lib/cmake/Boost"
    cat >"$root/usr/lib/cmake/Boost/BoostConfig.cmake" <<'CMAKE'
get_filename_component(usr ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
add_library(Boost::filesystem STATIC IMPORTED)
set_target_properties(Boost::filesystem PROPERTIES IMPORTED_LOCATION ${usr}/lib/libboost_filesystem.a
                                                   INTERFACE_INCLUDE_DIRECTORIES ${usr}/include)
set(Boost_FOUND TRUE)
set(Boost_filesystem_FOUND TRUE)
CMAKE
    cat >"$root/usr/lib/cmake/Boost/BoostConfigVersion.cmake" <<CMAKE
set(PACKAGE_VERSION "$(sed -n 's/#define BOOST_LIB_VERSION "\(.*\)"/\1/p' /usr/include/boost/version.hpp | tr _ .)")
set(PACKAGE_VERSION_COMPATIBLE TRUE)
CMAKE
}
library zlib zlib build_zlib
library fmt fmtlib build_fmt
library yaml-cpp yaml-cpp build_yaml
library boost "$boost" build_boost
library openssl openssl build_openssl
library curl curl build_curl

# Whoever gets the program gets their licenses.
notice() {
    printf '\n%s\n%s\n\n' "$1" "================================================================"
    cat "$2"
}
{
    echo "cudamatrix contains these libraries, under these licenses."
    for name in openssl curl zlib yaml-cpp fmtlib; do
        notice "$name $(cat "$sources/$name/VERSION.debian")" "$sources/$name/debian/copyright"
    done
    notice "$boost" "$sources/$boost/LICENSE_1_0.txt"
    for name in libcli11-dev nlohmann-json3-dev libtomlplusplus-dev; do
        notice "$name" "/usr/share/doc/$name/copyright"
    done
    notice "musl" "$(dirname "$zig")/lib/libc/musl/COPYRIGHT"
    notice "libc++, libc++abi, libunwind, compiler-rt" "$(dirname "$zig")/lib/libcxx/LICENSE.TXT"
} >"$root/THIRD-PARTY-LICENSES"

# The programs that run while building, and the pages, come from a build for this machine.
host=
if [ "$arch" != "$(uname -m)" ]; then
    host=$base/static-$(uname -m)
    [ -x "$host/cudamatrix" ] || sh "$0" "$(uname -m)"
fi
say "cudamatrix"
cmake -G Ninja -S "$top" -B "$build" --toolchain "$top/packaging/static/toolchain.cmake" -DCUDAMATRIX_STATIC_ROOT="$root" \
    -DCUDAMATRIX_STATIC_ARCH="$arch" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="$optimise -DNDEBUG" -DCMAKE_UNITY_BUILD=ON -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib \
    -DOPENSSL_USE_STATIC_LIBS=ON -DCUDAMATRIX_STATIC=ON -DCUDAMATRIX_TESTS=OFF -DCUDAMATRIX_HOST_BUILD="$host"
cmake --build "$build" -j "$jobs"
say "$build/cudamatrix"

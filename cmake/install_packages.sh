#!/bin/sh
# Installs the Debian or Ubuntu packages that are missing, and only those.
# Usage: install_packages.sh GROUP...   with GROUP of: build, engine, tests, coverage, fuzz
set -eu

packages=""
need() {
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || packages="$packages $package"
    done
}

# Boost.Process v2 needs Boost 1.80 or newer: Debian 12 has it as 1.81 beside its default 1.74.
boost() {
    if apt-cache show libboost1.81-dev >/dev/null 2>&1; then
        need libboost1.81-dev libboost-filesystem1.81-dev
    else
        need libboost-dev libboost-filesystem-dev
    fi
}

refresh() {
    [ -z "${refreshed:-}" ] || return 0
    apt-get update -qq
    refreshed=yes
}

[ "$(id -u)" = 0 ] || { echo "install_packages.sh: run as root (sudo), packages are missing only where it says so" >&2; exit 3; }
apt-cache show cmake >/dev/null 2>&1 || refresh

for group in "$@"; do
    case $group in
        build)
            need ca-certificates cmake g++ ninja-build libcli11-dev libyaml-cpp-dev nlohmann-json3-dev libfmt-dev libssl-dev doctest-dev
            need libcurl4-openssl-dev zlib1g-dev
            boost ;;
        engine) need ca-certificates docker.io runc mmdebstrap ;;
        tests) need ccache clang-format clang-tidy python3 python3-venv libkainjow-mustache-dev git ;;
        coverage) need clang-14 llvm-14 libclang-rt-14-dev ;;
        fuzz) need clang libclang-rt-dev ;;
        *) echo "install_packages.sh: unknown group '$group': build, engine, tests, coverage or fuzz" >&2; exit 2 ;;
    esac
done

if [ -n "$packages" ]; then
    echo "installing:$packages"
    refresh
    # shellcheck disable=SC2086  # a list of names on purpose
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
fi

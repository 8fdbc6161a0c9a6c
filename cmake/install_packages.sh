#!/bin/sh
# Installs the Debian or Ubuntu packages that are missing, and only those.
# Usage: install_packages.sh GROUP...   with GROUP of: build, engine, tests, packages, coverage, fuzz
#        install_packages.sh --print CODENAME GROUP...   prints all of them, for that release, and installs nothing
set -eu

print=
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
if [ "${1:-}" = --print ]; then
    print=yes
    codename=$2
    shift 2
fi

packages=""
need() {
    for package in "$@"; do
        [ -z "$print" ] || packages="$packages $package"
        [ -z "$print" ] || continue
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || packages="$packages $package"
    done
}

# Boost.Process v2 needs Boost 1.80 or newer: Debian 12 has it as 1.81 beside its default 1.74.
boost() {
    case $codename in
        bookworm) need libboost1.81-dev libboost-filesystem1.81-dev ;;
        *) need libboost-dev libboost-filesystem-dev ;;
    esac
}

# Only a compose 2 reads what we write; Debian 12 has none.
compose() {
    case $codename in
        trixie) need docker-compose ;;
    esac
}

refresh() {
    [ -z "${refreshed:-}" ] || return 0
    apt-get update -qq
    refreshed=yes
}

[ -n "$print" ] || [ "$(id -u)" = 0 ] || { echo "install_packages.sh: run as root (sudo), packages are missing only where it says so" >&2; exit 3; }
[ -n "$print" ] || apt-cache show cmake >/dev/null 2>&1 || refresh

for group in "$@"; do
    case $group in
        build)
            need ca-certificates cmake g++ ninja-build libcli11-dev libyaml-cpp-dev nlohmann-json3-dev libfmt-dev libssl-dev doctest-dev
            need libcurl4-openssl-dev zlib1g-dev libtomlplusplus-dev
            boost ;;
        engine) need ca-certificates docker.io podman buildah catatonit runc mmdebstrap ;;
        tests)
            need ccache clang clang-format clang-tidy libclang-rt-dev python3 python3-venv python3-pip libkainjow-mustache-dev git
            need docker-registry gpg gpg-agent iproute2 openssl
            need bash fish mandoc tmux zsh
            need slurmctld slurmd slurm-client munge
            compose ;;
        packages) need dpkg-dev make perl python3 python3-venv bzip2 xz-utils ;;
        coverage) need clang-14 llvm-14 libclang-rt-14-dev ;;
        fuzz) need clang libclang-rt-dev ;;
        *) echo "install_packages.sh: unknown group '$group': build, engine, tests, packages, coverage or fuzz" >&2; exit 2 ;;
    esac
done

if [ -n "$print" ]; then
    echo "${packages# }"
elif [ -n "$packages" ]; then
    echo "installing:$packages"
    refresh
    # shellcheck disable=SC2086  # a list of names on purpose
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
fi

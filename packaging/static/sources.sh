#!/bin/sh
# Fetches the sources of Debian or Ubuntu packages by apt-get source, with the distribution's fixes applied. The machine's own list of
# archives is taken as it is, with deb-src for deb; nothing of it is changed.
# Usage: sources.sh FOLDER PACKAGE...      unpacks each into FOLDER/PACKAGE
set -eu

folder=$1
shift
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
cd "$folder"
home=$PWD/apt
case $(sed -n "s/^ID=//p" /etc/os-release) in
    debian) keyring=/usr/share/keyrings/debian-archive-keyring.gpg origin=Debian ;;
    ubuntu) keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg origin=Ubuntu ;;
    *) echo "sources.sh: apt-get source needs Debian or Ubuntu" >&2; exit 3 ;;
esac
apt() {
    command=$1
    shift
    "$command" -o Dir::Etc::SourceList="${list:-$home/sources.list}" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$home/lists" \
        -o Dir::Cache="$home/cache" -o APT::Sandbox::User=root "$@"
}
refresh() {
    [ ! -e "$home/sources.list" ] || return 0
    apt-get indextargets --format "deb-src [signed-by=$keyring] \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" 'Created-By: Packages' "Origin: $origin" |
        sort -u >"$home/sources.new"
    [ -s "$home/sources.new" ] || { echo "sources.sh: apt-get knows no archive of $origin: run apt-get update first" >&2; exit 3; }
    mv "$home/sources.new" "$home/sources.list"
    apt apt-get update -qq
    split -l 1 -d --additional-suffix=.list "$home/sources.list" "$home/one."
}
# fetch PACKAGE=VERSION: from the archive that apt prefers, else from any other that has it.
fetch() {
    for list in "$home/sources.list" "$home"/one.*.list; do
        apt apt-get source -qq --download-only --only-source "$1" 2>>"$home/log" && return 0
    done
    return 1
}

for package in "$@"; do
    [ ! -d "$package" ] || continue
    refresh
    rm -rf "$package.new"
    mkdir -p "$package.new/files"
    # The newest; where the archive lists what it does not hold, the one before, which is said.
    taken=
    for version in $(apt apt-cache showsrc --only-source "$package" | sed -n 's/^Version: //p' | sort -rVu); do
        if (cd "$package.new/files" && fetch "$package=$version"); then
            taken=$version
            break
        fi
        echo "sources.sh: warning: $package $version cannot be fetched, see $home/log" >&2
    done
    [ -n "$taken" ] || { echo "sources.sh: no source of $package can be fetched" >&2; exit 3; }
    echo "$package $taken"
    case $package in
        boost*)  # one library of 150
            mkdir "$package.new/tree"
            tar -C "$package.new/tree" --wildcards --no-wildcards-match-slash --strip-components=1 -xf "$package.new/files/"*.orig.tar.* '*/libs/filesystem/src' '*/LICENSE_1_0.txt' ;;
        *) dpkg-source --no-check -x "$package.new/files/"*.dsc "$package.new/tree" >/dev/null ;;
    esac
    echo "$taken" >"$package.new/tree/VERSION.debian"
    mv "$package.new/tree" "$package"
    rm -rf "$package.new"
done

#!/bin/sh
# Runs a command with a docker daemon at hand: the one that DOCKER_HOST or the default socket reaches, or else a private one
# that is started for the command and ended with it. Its images stay in CUDAMATRIX_DOCKER_ROOT for the next time; what BuildKit
# keeps of their steps is held below 15 GB, or it would grow with every change of a Dockerfile.
# Usage: with_docker.sh COMMAND [ARG...]
set -eu

docker=/usr/bin/docker
[ -x "$docker" ] || docker=docker
if "$docker" version >/dev/null 2>&1; then
    exec "$@"
fi

root=${CUDAMATRIX_DOCKER_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/cudamatrix/docker}
state=$(mktemp -d)
mkdir -p "$root"
echo "no docker daemon answers: starting a private one (images in $root)"
echo '{"builder": {"gc": {"enabled": true, "defaultKeepStorage": "15GB"}}}' >"$state/daemon.json"
dockerd --config-file "$state/daemon.json" --iptables=false --bridge=none --data-root "$root" --exec-root "$state/exec" --pidfile "$state/pid" \
        --host "unix://$state/docker.sock" >"$state/log" 2>&1 &
daemon=$!
finish() {
    kill "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
    rm -rf "$state"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

DOCKER_HOST=unix://$state/docker.sock
export DOCKER_HOST
tries=0
until "$docker" version >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -gt 60 ] || ! kill -0 "$daemon" 2>/dev/null; then
        echo "the docker daemon did not start:" >&2
        tail -n 20 "$state/log" >&2
        exit 3
    fi
    sleep 0.5
done
"$@"

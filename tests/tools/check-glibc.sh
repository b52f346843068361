#!/bin/sh
# Loads libnvmtop-nvtx.so with the glibc of Debian 11 (2.31), as a program in an older container does.
#   tests/tools/check-glibc.sh LIBRARY
# Status 77: not possible here, with the reason.
set -eu
library=$1
no() {
    echo "old glibc: skipped: $*"
    exit 77
}
test "$(id -u)" -eq 0 || no 'chroot needs root'
command -v mmdebstrap >/dev/null || no 'mmdebstrap is not installed'
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mmdebstrap --quiet --variant=essential bullseye "$root" 2>"$root.log" || {
    tail -n 3 "$root.log"
    rm -f "$root.log"
    no 'Debian 11 cannot be fetched'
}
rm -f "$root.log"
cp "$library" "$root/tmp/library.so"
LD_BIND_NOW=1 chroot "$root" perl -MDynaLoader -e '
    my $l = DynaLoader::dl_load_file("/tmp/library.so") or die DynaLoader::dl_error();
    DynaLoader::dl_find_symbol($l, "InitializeInjectionNvtx2") or die DynaLoader::dl_error()'
echo "old glibc: $library loads with $(chroot "$root" ldd --version | head -n 1)"

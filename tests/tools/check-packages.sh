#!/bin/sh
# Builds the Debian packages of this machine's release, and installs, uses, upgrades, removes and purges
# them in a chroot that has nothing else.
#   tests/tools/check-packages.sh [--install] [--built SUITE] FOLDER
# As root, which mmdebstrap and chroot need. --install installs what building needs: use a container.
# The packages are left in FOLDER; with --built they are there, for a release of Debian and perhaps for
# another architecture, which binfmt_misc and qemu-user-static run. Status 77: not possible here, with the reason.
set -eu
src=$(cd "$(dirname "$0")/../.." && pwd)
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
no() {
    echo "packages: $*"
    exit 77
}
usage() {
    echo "usage: $0 [--install] [--built SUITE] FOLDER" >&2
    exit 2
}
install=no suite=
while [ $# -gt 1 ]; do
    case $1 in
    --install) install=yes ;;
    --built)
        suite=$2
        shift
        ;;
    *) usage ;;
    esac
    shift
done
[ $# -eq 1 ] || usage
mkdir -p "$1"
build=$(cd "$1" && pwd)
test "$(id -u)" -eq 0 || no 'mmdebstrap and chroot need root'
native=$(. /etc/os-release && test "$ID" = debian && echo "$VERSION_CODENAME") || test -n "$suite" || no 'this is not Debian'
if [ $install = yes ]; then
    # shellcheck disable=SC2046
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends mmdebstrap lintian dpkg-dev fakeroot &&
        apt-get build-dep -y -qq --no-install-recommends -P nocheck "$src"; } >"$build/install.log" 2>&1 || {
        tail -n 5 "$build/install.log"
        no 'what is needed to build packages cannot be installed'
    }
fi
for program in mmdebstrap lintian dpkg-buildpackage dh; do
    command -v "$program" >/dev/null || no "$program is not installed: in a container, $0 --install as root installs it"
done

# Mounts of its own, which end with it.
if [ "${NVMTOP_UNSHARED:-}" != yes ]; then
    NVMTOP_UNSHARED=yes exec unshare --mount --propagation private "$0" ${suite:+--built "$suite"} "$build" || no 'this kernel does not let root mount'
fi
root=$build/root
rm -rf --one-file-system "$root"
mkdir "$root"
mount -t tmpfs -o mode=755 tmpfs "$root"

n=0 failed=0
# ok NAME CONDITION...: the condition is a command; what it says is told when it fails.
ok() {
    title=$1
    n=$((n + 1))
    shift
    if "$@" >"$build/why" 2>&1 </dev/null; then
        echo "ok $n - $title"
    else
        failed=$((failed + 1))
        echo "not ok $n - $title"
        echo "# failed: $*"
        tail -n 20 "$build/why" | sed 's/^/# /'
    fi
}
finish() {
    printf '1..%d\n# TOTAL: %d\n# PASS:  %d\n# SKIP:  0\n# FAIL:  %d\n' $n $n $((n - failed)) $failed
    test $failed -eq 0
    exit
}
is() { test "$1" = "$2" || { echo "\"$1\" is not \"$2\""; return 1; }; }
says() { grep -q -- "$2" "$1" || { cat "$1"; return 1; }; }
lacks() { ! grep -q -- "$2" "$1" || { cat "$1"; return 1; }; }
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=xterm DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"; }
# What no package owns: everything that one could leave behind.
unowned() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./run -o -path ./tmp -o -path ./packages -o -path './etc/*-' \
        -o -path ./etc/hosts -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/cache -o -path ./var/log/apt -o -path './var/log/*.log' \
        -o -path '*/__pycache__' \) -prune -o -print) | sed 's|^\./\(s\{0,1\}bin\|lib[^/]*\)/|./usr/\1/|' | LC_ALL=C sort >"$build/all"
    sed 's|^/|./|; s|^\./\(s\{0,1\}bin\|lib[^/]*\)/|./usr/\1/|' "$root"/var/lib/dpkg/info/*.list | LC_ALL=C sort -u |
        LC_ALL=C comm -23 "$build/all" -
}

# The chroot comes from the network while this compiles.
arch=$(dpkg --print-architecture)
test -z "$suite" || arch=$(dpkg-deb -f "$build"/nvmtop_*.deb Architecture)
mmdebstrap --quiet --variant=apt --architectures="$arch" --include=adduser,man-db,tzdata --skip=cleanup/apt/lists "${suite:-$native}" "$root" \
    http://deb.debian.org/debian >"$build/chroot.log" 2>&1 &
chroot_job=$!
build_them() {
    rm -rf "$build/nvmtop" "$build"/*.deb "$build"/*.changes "$build"/*.buildinfo
    mkdir "$build/nvmtop"
    git -C "$src" ls-files -co --exclude-standard -z | (cd "$src" && tar --null -T - --ignore-failed-read -c 2>/dev/null) |
        tar -x -C "$build/nvmtop"
    (cd "$build/nvmtop" && DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" dpkg-buildpackage -b -d -us -uc -Pnocheck)
}
if [ -z "$suite" ]; then
    ok 'the packages are built' build_them
    test $failed -eq 0 || finish
fi
version=$(dpkg-deb -f "$build"/nvmtop_*.deb Version)
lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$build"/nvmtop_*.changes >"$build/lintian.log" 2>&1 &
lintian_job=$!
wait $chroot_job || {
    tail -n 3 "$build/chroot.log"
    no "a chroot of ${suite:-$native} cannot be made"
}

mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir "$root/packages"
cp "$build"/*.deb "$root/packages/"
inside sh -c 'apt-get install -y -qq --no-install-recommends libncursesw6' >/dev/null 2>&1 || no 'packages cannot be fetched in a chroot'
unowned >"$build/before"

install_them() { inside sh -c "cd /packages && apt-get install -y -q --no-install-recommends $*" >"$build/apt.log" 2>&1; }
ok 'nvmtop and libnvmtop1 are installed' install_them './nvmtop_*.deb ./libnvmtop1_*.deb' || :
cp "$build/apt.log" "$build/first.log"
ok 'which says how to read all sensors' says "$build/first.log" '^nvmtop: .*sudo nvmtop-setup --group nvmtop$'
ok 'and who may' says "$build/first.log" '^nvmtop: .*sudo usermod -aG nvmtop USER$'
ok 'the user and the group are there' inside id nvmtop
ok 'without a home, and without a shell' says "$root/etc/passwd" '^nvmtop:[^:]*:[0-9]*:[0-9]*:[^:]*:/nonexistent:/usr/sbin/nologin$'
ok 'its version' is "$(inside nvmtop --version | head -n 1)" "nvmtop $version"
# works TEST: one of autopkgtest
works() {
    cp "$src/debian/tests/$1" "$root/packages/$1"
    mkdir "$root/tmp/$1"
    ok "debian/tests/$1" inside env AUTOPKGTEST_TMP="/tmp/$1" "/packages/$1"
}
works program
# The screen is left with q as soon as it is there.
screen() {
    mkfifo "$build/keys"
    inside true # so that only the program is waited for below
    script -qec "TERM=xterm chroot '$root' nvmtop --demo" /dev/null <"$build/keys" >"$build/screen" 2>&1 &
    exec 3>"$build/keys"
    tries=0
    until grep -q 'AGX Orin' "$build/screen" || [ $tries -eq 300 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    printf q >&3
    wait $!
    status=$?
    exec 3>&-
    rm -f "$build/keys"
    test $tries -lt 300 && return $status
}
ok 'the screen opens and closes' screen
for page in nvmtop nvmtop-nsys nvmtop-record nvmtop-setup nvmtop-trace; do
    ok "man $page" inside man -w $page
done
for unit in nvmtop-setup nvmtop-record@ nvmtop-serve; do
    ok "$unit.service is where systemd looks" test -f "$root/lib/systemd/system/$unit.service"
done

ok 'what changes settings is a program without rights of its own' is "$(inside stat -c '%a %U %G' /usr/libexec/nvmtop/nvmtop-control)" '755 root root'
ok 'polkit has a policy for it' says "$root/usr/share/polkit-1/actions/io.github.nvmtop.policy" '>/usr/libexec/nvmtop/nvmtop-control<'

ok 'the development files and the module are installed' install_them './libnvmtop-dev_*.deb ./python3-nvmtop_*.deb gcc libc6-dev pkg-config'
works library
works python

# As nvmtop-setup opens files of a board; the list comes from a program that stands in for nvmtop.
mkdir -p "$root/sys/kernel/debug/bpmp"
echo 1 >"$root/sys/kernel/debug/bpmp/rate"
chmod 700 "$root/sys/kernel/debug" && chmod 600 "$root/sys/kernel/debug/bpmp/rate"
printf '#!/bin/sh\necho /sys/kernel/debug/bpmp/rate\n' >"$root/tmp/list"
chmod 755 "$root/tmp/list"
modes() { inside stat -c '%a %G' /sys/kernel/debug /sys/kernel/debug/bpmp/rate | tr '\n' ' '; }
ok 'nvmtop-setup opens them to the group' inside nvmtop-setup --group nvmtop --program /tmp/list
ok 'and to no one else' is "$(modes)" '710 nvmtop 640 nvmtop '

# The same package with another version is an upgrade, without a second build.
later() {
    rm -rf "$build/later"
    dpkg-deb -R "$build"/nvmtop_*.deb "$build/later"
    sed -i "s/^Version: .*/Version: $version+later/" "$build/later/DEBIAN/control"
    dpkg-deb --root-owner-group -b "$build/later" "$root/packages/later.deb"
}
ok 'a later version is made' later
mkdir "$root/var/log/nvmtop"
echo data >"$root/var/log/nvmtop/run.nvmt"
mkdir -m 700 "$root/var/lib/nvmtop-control"
echo '{}' >"$root/var/lib/nvmtop-control/undo.json"
echo "# the administrator's" >"$root/etc/nvmtop/record-gpu.conf"
# From here on systemd seems to run, and both services, which were enabled.
mkdir -p "$root/run/systemd/system" "$root/etc/systemd/system/multi-user.target.wants"
for unit in nvmtop-setup nvmtop-record@gpu nvmtop-serve; do
    ln -s "/lib/systemd/system/${unit%gpu}.service" "$root/etc/systemd/system/multi-user.target.wants/$unit.service"
done
printf '#!/bin/sh\necho "$*" >>/tmp/systemctl\n' >"$root/usr/bin/systemctl"
chmod 755 "$root/usr/bin/systemctl"
ok 'the upgrade' install_them './later.deb'
cp "$build/apt.log" "$build/second.log"
ok 'does not say it again' lacks "$build/second.log" 'usermod'
ok 'leaves the permissions' is "$(modes)" '710 nvmtop 640 nvmtop '
ok 'restarts nvmtop-setup, if it runs' says "$root/tmp/systemctl" '^try-restart .*nvmtop-setup.service'
ok 'and what records' says "$root/tmp/systemctl" '^try-restart .*nvmtop-record@\*.service'
ok 'is there' is "$(inside dpkg-query -W -f '${Version}' nvmtop)" "$version+later"

ok 'removing' inside apt-get remove -y -q nvmtop
ok 'puts the permissions back' is "$(modes)" '700 root 600 root '
ok 'stops the services' says "$root/tmp/systemctl" '^stop nvmtop-record@\*.service nvmtop-serve.service nvmtop-setup.service'
ok 'leaves recordings' test -f "$root/var/log/nvmtop/run.nvmt"
ok 'leaves the way back of nvmtop control' test -f "$root/var/lib/nvmtop-control/undo.json"
ok 'leaves the configuration' test -f "$root/etc/nvmtop/record-gpu.conf"
ok 'purging' inside sh -c 'apt-get purge -y -q nvmtop && apt-get purge -y -q --autoremove libnvmtop1 libnvmtop-dev python3-nvmtop gcc libc6-dev pkg-config'
rm -rf "$root/sys/kernel" "$root/usr/bin/systemctl"
rmdir -p --ignore-fail-on-non-empty "$root/etc/systemd/system/multi-user.target.wants"
unowned >"$build/after"
ok 'leaves nothing' diff "$build/before" "$build/after"
ok 'but the user' says "$root/etc/passwd" '^nvmtop:'

wait $lintian_job && status=0 || status=$?
ok 'lintian has neither errors nor warnings' sh -c 'cat "$1"; exit "$2"' sh "$build/lintian.log" "$status"
finish

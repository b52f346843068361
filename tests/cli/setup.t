#!/bin/sh
# nvmtop-setup on a tree that is like the kernel's: what it opens, for whom, and
# that it can all be taken back.
. "$NVMTOP_SRC/tests/cli/lib.sh"
umask 022

cp -R -P "$roots/agx_orin-36" tree
debug=tree/sys/kernel/debug
closed() {
    chmod 700 $debug
    chmod 600 $debug/cactmon/mc_all
    chmod 444 $debug/bpmp/debug/clk/emc/rate
}
closed
mode() { stat -c %a "$1"; }
modes() { find tree/sys -printf '%m %p\n' | sort; }
# It asks the program, which may run under an emulator.
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${EMU-}" "$NVMTOP" >ask
chmod +x ask
setup() { sh "$NVMTOP_SRC/setup/nvmtop-setup" --program ./ask "$@"; }
modes >before

run nvmtop boards --paths --sysroot tree
ok 'the program says which files' is "$status" 0
ok 'the activity of the memory controller is one' says out '^/sys/kernel/debug/cactmon/mc_all$'
ok 'each once' sh -c 'test -z "$(sort out | uniq -d)"'

run sh "$NVMTOP_SRC/setup/nvmtop-setup" --root tree --program nowhere/nvmtop
ok 'without the program' is "$status" 1
ok 'without the program: a sentence that says what to do' one_line err
ok 'without the program: what to do' says err '--program /'

# Nothing that the environment names is run: root has it from a user.
mkdir trap
printf '#!/bin/sh\necho "$0" >>"%s/ran"\n' "$scratch" >trap/nvmtop
chmod +x trap/nvmtop
for tool in chmod stat id ls cut grep readlink mkdir tac dirname; do cp trap/nvmtop trap/$tool; done
mkdir beside
cp "$NVMTOP_SRC/setup/nvmtop-setup" beside/
run env NVMTOP=trap/nvmtop PATH="$scratch/trap:$PATH" CDPATH="$scratch/trap" sh beside/nvmtop-setup --root tree --print
run env NVMTOP=trap/nvmtop PATH="$scratch/trap:$PATH" sh beside/nvmtop-setup --root tree --print --program ./ask
ok 'without what the environment names' is "$status" 0
ok 'none of which is run' is "$(cat ran 2>/dev/null)" ''

run setup --root tree --print
ok '--print' is "$status" 0
ok '--print names the folder' says out "^chmod -- o+x .*/sys/kernel/debug$"
ok 'once' is "$(grep -c '/sys/kernel/debug$' out)" 1
ok '--print names the file' says out "^chmod -- o+r .*/cactmon/mc_all$"
modes >after
ok '--print changes nothing' cmp before after

run setup --root tree
ok 'it runs' is "$status" 0
ok 'the folder can be passed through, not listed' is "$(mode $debug)" 701
ok 'the file can be read' is "$(mode $debug/cactmon/mc_all)" 604
ok 'what was open stays as it was' is "$(mode $debug/bpmp/debug/clk/emc/rate)" 444
modes >after
ok 'nothing else was touched' is "$(diff before after | grep -c '^>')" 2
run setup --root tree
ok 'again: nothing to do' says out '0 permissions changed'
ok 'without systemd: that it does not last' says out 'systemd does not run here: run nvmtop-setup again after each boot'
mkdir -p tree/run/systemd/system
run setup --root tree
ok 'with systemd: nothing of that' one_line out
run setup --root tree --remove
ok '--remove' is "$status" 0
modes >after
ok 'all is as it was' cmp before after
run setup --root tree --remove
ok '--remove again is no error' is "$status" 0

group=$(id -gn)
closed
run setup --root tree --group "$group"
ok '--group' is "$status" 0
ok 'the group may pass' is "$(mode $debug)" 710
ok 'the group may read' is "$(mode $debug/cactmon/mc_all)" 640
run setup --root tree
ok 'then everyone' is "$(mode $debug)/$(mode $debug/cactmon/mc_all)" 711/644
run setup --root tree --remove
modes >after
ok 'and all is as it was at first' cmp before after

run setup --root tree --group no-such-group-here
ok 'a group that is not there' is "$status" 1
ok 'says how to make it' says err groupadd
modes >after
ok 'and nothing was changed' cmp before after
ok 'nor noted' test ! -e tree/run/nvmtop-setup.list
mkdir -p read-only/sys
if mount -t tmpfs -o ro none read-only/sys 2>/dev/null; then
    run setup --root read-only
    ok 'a read-only /sys, as in a container' is "$status" 1
    ok 'a read-only /sys: a sentence' one_line err
    ok 'a read-only /sys: what to do' says err 'as it is in a container: run nvmtop-setup outside'
    ok 'a read-only /sys: nothing is noted' test ! -e read-only/run
    umount read-only/sys
else
    skip 'a read-only /sys' 'nothing can be mounted here: run it as root'
fi
run setup --nonsense
ok 'an option that is none' is "$status" 2
run setup --root /no/such/folder
ok 'a folder that is not there' is "$status" 1
ln -s ../../../../../../../../etc/passwd tree/sys/kernel/debug/cactmon/trap
rm $debug/cactmon/mc_all
ln -s /etc/hostname $debug/cactmon/mc_all
run setup --root tree --print
ok 'a link that leads out is left alone' sh -c '! grep -q etc/ out'
if command -v shellcheck >/dev/null; then
    ok 'shellcheck' shellcheck "$NVMTOP_SRC/setup/nvmtop-setup"
else
    skip 'shellcheck' 'shellcheck is not installed: ./bootstrap --tests installs it'
fi
done_testing

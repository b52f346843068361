#!/bin/sh
# boards: which board, why, each channel with its file, what is missing and why.
. "$NVMTOP_SRC/tests/cli/lib.sh"
unset NVMTOP_BOARD JETSON_MODEL_NAME

run nvmtop boards
ok 'this machine' is "$status" 0
ok 'all boards are listed' sh -c 'for b in nano tx1 tx2 tx2_nx agx_xavier xavier_nx agx_orin igx_orin orin_nx orin_nano agx_thor generic demo; do grep -qw $b out || exit 1; done'

run nvmtop boards --sysroot "$roots/agx_orin-36"
ok 'AGX Orin' says out 'Jetson AGX Orin (agx_orin)'
ok 'says why' says out 'nvidia,p3701-0000'
ok 'a rail with its file' says out 'VDD_GPU_SOC.voltage .*medium *mV .*/in1_input'
ok 'power mode' says out 'MODE_30W'

for r in orin_nx-36-offline:orin_nx orin_nano-36-super:orin_nano pc:generic agx_orin-35:agx_orin \
    container-36-model:orin_nano container-36-bare:orin_nano custom-orin-36:tegra234 agx_orin-36-as-nano:agx_orin; do
    run nvmtop boards --sysroot "$roots/${r%:*}"
    ok "${r%:*} is ${r#*:}" says out "(${r#*:})"
done

run nvmtop boards --sysroot "$roots/container-36-model"
ok 'in a container: what was handed in' says out '/tmp/nv_jetson_model says "NVIDIA Jetson Orin Nano'
run nvmtop boards --sysroot "$roots/container-36-bare"
ok 'or the sensors' says out 'recognised by its sensors (hwmon=ina3221/VDD_CPU_GPU_CV'
run nvmtop boards --sysroot "$roots/custom-orin-36"
ok 'an unknown carrier says so' says out 'no board file names this module'
ok 'its sensors are found' says out 'VDD_IN.power'
ok 'an unknown revision is still a JetPack' says out 'JetPack: 6$'
run nvmtop boards --sysroot "$roots/agx_orin-36-as-nano"
ok 'what it is made to imitate is said' says out 'imitating an Orin Nano 4GB'

# A container, where the device tree is masked and all of_node lead nowhere.
for r in orin_nx-36-offline:orin_nx orin_nano-36-super:orin_nano tx2-32:tx2 tx2_nx-32:tx2_nx agx_xavier-32:agx_xavier \
    agx_xavier-35:agx_xavier xavier_nx-35:xavier_nx agx_orin-36:agx_orin; do
    rm -rf c
    cp -R -P "$roots/${r%:*}" c
    rm -rf c/proc/device-tree c/sys/firmware c/etc/nv_tegra_release
    find c -name of_node -prune -exec rm -rf {} +
    run nvmtop boards --sysroot c
    ok "${r%:*} in a container without a device tree is ${r#*:}" says out "(${r#*:})"
done

# cpuidle that has counted nothing is a reason, not a load of 0.
cp -R -P "$roots/pc" still
mkdir -p still/sys/devices/system/cpu/cpu0/cpuidle/state0
for cpu in still/sys/devices/system/cpu/cpu[0-9]*; do
    mkdir -p "$cpu/cpuidle/state0"
    echo 0 >"$cpu/cpuidle/state0/time"
done
nvmtop once --json --sysroot still >out
ok 'cpuidle that has counted nothing: said' says out 'cpuidle: its times are 0'
nvmtop once --json --sysroot "$roots/agx_orin-36" >out
ok 'a requested clock is called so' says out 'requested clock'

# A board file that is there and cannot be read is not one that is not there.
mkdir -p mine/agx_orin.board "$XDG_CONFIG_HOME/nvmtop/boards"
cp "$NVMTOP_SRC"/boards/*.board "$NVMTOP_SRC"/boards/*.inc "$XDG_CONFIG_HOME/nvmtop/boards" # where all others are
mine=$scratch/mine/agx_orin.board
run env NVMTOP_BOARDS="$scratch/mine" $EMU "$NVMTOP" boards --sysroot "$roots/agx_orin-36"
ok 'a folder of that name: goes on' is "$status" 0
ok 'a folder of that name: said' says out "Notice: cannot read the board file \"$mine\": Is a directory"
run env NVMTOP_BOARDS="$scratch/mine" $EMU "$NVMTOP" boards --board agx_orin
ok '--board NAME: status 1' is "$status" 1
ok '--board NAME: which, and why' says err "cannot read the board file \"$mine\": Is a directory"
run nvmtop boards --board "$mine"
ok '--board FILE: status 1' is "$status" 1
ok '--board FILE: which, and why' says err "cannot read the board file \"$mine\": Is a directory"
run env NVMTOP_BOARDS="$scratch/mine" $EMU "$NVMTOP" --record --duration 0.2 --sysroot "$roots/agx_orin-36" folder.nvmt
ok '--record says it' says err "^nvmtop: cannot read the board file \"$mine\": Is a directory"
# On a machine that no file describes, one that is not understood is named.
echo nonsense >mine/broken.board
rmdir mine/agx_orin.board
run env NVMTOP_BOARDS="$scratch/mine" $EMU "$NVMTOP" boards --sysroot "$roots/pc"
ok 'a broken one may be this' says out 'Notice: .*broken.board:1: .*; it may describe this machine, and no other board file does'
run env NVMTOP_BOARDS="$scratch/mine" $EMU "$NVMTOP" boards --sysroot "$roots/agx_orin-36"
ok 'where another one fits it is listed' says out '^  .*broken.board:1:'
ignored="board file ignored: .*mine/broken.board:1: unknown statement \"nonsense\""
ok 'and said, with its line' says out "Notice: $ignored"
for verb in once 'record --duration 0.2 mine.nvmt' '--print 100x30'; do
    # shellcheck disable=SC2086
    run env NVMTOP_BOARDS="$scratch/mine" $EMU "$NVMTOP" $verb --sysroot "$roots/agx_orin-36"
    ok "${verb%% *} goes on" is "$status" 0
    ok "${verb%% *} says it" says err "^nvmtop: $ignored"
done
# Root may read everything: then somebody else tries.
cat >other.py <<'END'
import os, sys
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
os.execv(os.getcwd() + "/as-other", ["nvmtop"] + sys.argv[1:]) # fails where the scratch folder cannot be reached
END
cp "$NVMTOP" as-other # which may be in a folder of root's alone
rm mine/broken.board
cp "$NVMTOP_SRC/boards/agx_orin.board" mine
cp -R "$roots/agx_orin-36" root
chmod -R a+rX,u+w . && chmod 0 mine/agx_orin.board
if test -z "$EMU" && "$python" other.py --version >/dev/null 2>&1; then
    other() { run env HOME=/nonexistent NVMTOP_BOARDS="$scratch/mine" "$python" other.py "$@"; }
    other boards --sysroot root
    ok 'one that may not be read: goes on' is "$status" 0
    ok 'one that may not be read: said' says out "Notice: cannot read the board file \"$mine\": Permission denied"
    other boards --board agx_orin --sysroot root
    ok 'one that may not be read, by its name: status 1' is "$status" 1
    ok 'one that may not be read, by its name: said' says err "cannot read the board file \"$mine\": Permission denied"
    chmod a+r mine/agx_orin.board
    chmod 0 mine
    other boards --board "$mine" --sysroot root
    ok 'in a folder that may not be entered: status 1' is "$status" 1
    ok 'in a folder that may not be entered: said' says err "cannot read the board file \"$mine\": Permission denied"
    other boards --board agx_orin --sysroot root
    ok 'a name that is found in another folder' is "$status" 0
    other boards --board nonesuch --sysroot root
    ok 'a name that may be in that folder: said' says err "cannot look for the board \"nonesuch\" in \"$scratch/mine\": Permission denied"
    other boards --sysroot root
    ok 'that folder is listed' says out "cannot read the folder of board files \"$scratch/mine\": Permission denied"
    chmod 755 mine
    chmod 0 root/sys/kernel/debug # of the owner, too
    other boards --board tx2 --sysroot root
    ok 'what may not be there is not called locked' says out '(Permission denied); sudo nvmtop-setup opens it, if it exists'
    chmod 755 root/sys/kernel/debug
else
    skip 'a board file that may not be read' 'root may read everything, and nobody else can be tried: run it as another user'
fi

# of this machine, by what the environment says
run env NVMTOP_BOARD=agx_xavier $EMU "$NVMTOP" boards
ok 'NVMTOP_BOARD chooses' says out 'Jetson AGX Xavier (agx_xavier): NVMTOP_BOARD says "agx_xavier"'
run env NVMTOP_BOARD=nonesuch $EMU "$NVMTOP" boards
ok 'a board that is none is an error' is "$status" 2
ok 'and the variable is named' says err 'NVMTOP_BOARD: .*nonesuch'
run env NVMTOP_BOARD=agx_xavier $EMU "$NVMTOP" boards --board tx2
ok '--board counts more' says out '(tx2): chosen on the command line'
if test -e /proc/device-tree/compatible; then
    skip 'JETSON_MODEL_NAME' 'this machine has a device tree: run it on one without'
else
    run env JETSON_MODEL_NAME=JETSON_ORIN_NANO $EMU "$NVMTOP" boards
    ok 'JETSON_MODEL_NAME as a name' says out '(orin_nano): JETSON_MODEL_NAME says'
    run env JETSON_MODEL_NAME='NVIDIA Jetson Xavier NX Developer Kit' $EMU "$NVMTOP" boards
    ok 'JETSON_MODEL_NAME as a model' says out '(xavier_nx): JETSON_MODEL_NAME says'
fi

# A board that this machine is not: everything missing, each with its reason.
for b in nano tx1 tx2 tx2_nx agx_xavier xavier_nx agx_orin igx_orin orin_nx orin_nano agx_thor; do
    run nvmtop boards --board $b --sysroot "$roots/pc"
    ok "$b on a PC" is "$status" 0
    ok "$b on a PC: no rail is there" sh -c '! sed "/^Missing/,\$d" out | grep -q "\.power "'
    run nvmtop once --board $b --sysroot "$roots/pc"
    ok "$b on a PC: one reading" is "$status" 0
done

mkdir -p config/nvmtop/boards
printf 'board mine\ntitle "My carrier"\nslow temp cpu zone=cpu-thermal\n' >config/nvmtop/boards/mine.board
run nvmtop boards
ok "the user's own boards are found" says out 'My carrier'
run nvmtop boards --board mine --sysroot "$roots/agx_orin-36"
ok 'and chosen by name' says out 'temp.cpu'
printf 'board broken\ntitle "Broken"\nslow nonsense x\n' >broken.board
run nvmtop boards --board ./broken.board
ok 'a broken board file fails' test "$status" -ne 0
ok 'with file and line' says err 'broken.board:3'

# Includes: where the fault is, once, and what to do.
printf 'board a\ntitle A\ninclude b.inc\nfast cpu\n' >a.board
fault() { # NAME MESSAGE
    run nvmtop once --board ./a.board
    ok "$1" is "$(cat err)" "nvmtop: $2"
}
printf 'include ./b.inc\n' >b.inc
fault 'a file that includes itself by another name' './b.inc:1: "././b.inc" would include itself; remove this line'
printf '\ninclude a.board\n' >b.inc
fault 'a file that includes the one it is in' './b.inc:2: "./a.board" would include itself; remove this line'
printf 'include c.inc\n' >b.inc
fault 'a file that is not there' './b.inc:1: cannot read the board file "./c.inc": No such file or directory'
printf 'fast cpu\nslow x\n' >c.inc
run nvmtop once --board ./a.board
ok 'an error two files down has one place' says err '^nvmtop: ./c.inc:2: unknown probe "x"'
i=0
while test $i -lt 70; do
    printf 'include %s.inc\n' $((i + 1)) >$i.inc
    i=$((i + 1))
done
echo 'fast cpu' >70.inc
printf 'include 0.inc\n' >b.inc
fault 'too many files' './61.inc:1: a board has at most 64 files, with those it includes'

# A program without its board files.
mkdir alone
cp "$NVMTOP" alone
alone() { run env -u NVMTOP_BOARDS XDG_CONFIG_HOME="$scratch/alone" $EMU alone/nvmtop "$@"; }
alone boards
if test "$status" -eq 0; then
    skip 'no board files' 'nvmtop is installed here: run it where it is not'
else
    for verb in once boards 'boards --board tx2' 'record --demo --duration 1 x.nvmt' '--print 80x24'; do
        # shellcheck disable=SC2086
        alone $verb
        ok "no board files: $verb" is "$status" 1
        ok 'where they should be, and what to do' says err \
            "^nvmtop: the board files of nvmtop are in none of the folders $scratch/alone/nvmtop/boards, /.*; run .make install., or set NVMTOP_BOARDS"
    done
fi

# The name of a file is text of somebody else, too.
esc=$(printf '\033')
wild="w${esc}[31m"
mkdir "$wild"
cp "$NVMTOP_SRC"/boards/*.board "$NVMTOP_SRC"/boards/*.inc "$wild"
cp "$NVMTOP_SRC/tests/traces/small.nvmt" "$wild/t.nvmt"
printf 'title\n' >"$wild/x.board"
printf '#!/nowhere\n' >"$wild/run"
chmod +x "$wild/run"
printf 'theme = no\n' >"$wild/conf"
: >raw
while read -r words; do
    # shellcheck disable=SC2086
    NVMTOP_BOARDS=$wild nvmtop $words >out 2>err </dev/null
    cat out err >>said
    if grep -q "$esc" out err; then echo "$words" | tr "$esc" '?' >>raw; fi
done <<END
once --board $wild/x.board
once --board $wild/none.board
once --board $wild/nano.board --sysroot $roots/nano-32
boards --board $wild/nano.board --sysroot $roots/nano-32
boards --sysroot $wild
boards --sysroot $wild/none
boards --paths --board $wild/nano.board --sysroot $roots/nano-32
--record $wild/r.bin --demo --duration 0.1
--record $wild/r.bin --demo --duration 0.1
--record $wild/r2.bin --demo -- $wild/run
--record $wild/none/r.bin --demo --duration 0.1
--replay $wild/none
--replay $wild/conf
report $wild/t.nvmt
report $wild/t.nvmt $wild/none
check $wild/t.nvmt
check $wild/conf
cut $wild/t.nvmt --output $wild/cut.nvmt --from 0 --to 0.1
cut $wild/t.nvmt --output $wild/none/cut.nvmt --from 0 --to 0.1
export csv $wild/t.nvmt --output $wild/t.csv
export csv $wild/t.nvmt --output $wild/none/t.csv
--print 80x24 --replay $wild/t.nvmt
--print 80x24 --config $wild/conf --replay $wild/t.nvmt
--print 80x24 --config $wild/none --replay $wild/t.nvmt
--demo --print 80x24 $wild
$wild $wild
mark x --to $wild
--$wild
END
ok 'names of files are told' says said '?.31m'
ok 'and none of them as it is' is "$(cat raw)" ''

# Who may write in /tmp must not choose the board: a machine of its own, without a device tree.
at=/tmp/nv_jetson_model
alone='--mount'
test "$(id -u)" -eq 0 || alone='--user --map-root-user --mount'
# inside COMMANDS: after these, in an empty /tmp, what detects the board
inside() {
    # shellcheck disable=SC2086
    run unshare $alone sh -c "mount -t tmpfs none /tmp && { $1; } && exec timeout 60 '$NVMTOP' boards --no-config"
}
model='NVIDIA Jetson Orin Nano Developer Kit'
if test -z "$EMU" && test ! -e /proc/device-tree/compatible && inside : && test "$status" -eq 0; then
    inside "echo '$model' >$at"
    ok 'a model in /tmp that is of this user' says out "$at says"
    inside "echo '$model' >/tmp/x; ln -s x $at"
    ok 'a link: not believed' says out "$at is not believed"
    inside "mkfifo $at"
    ok 'a FIFO: not believed' says out "$at is not believed"
    inside "echo '$model' >/tmp/x; : >$at; mount --bind /tmp/x $at"
    ok 'one that is mounted' says out "$at says"
    if test "$(id -u)" -eq 0; then
        inside "echo '$model' >$at; chown 65534 $at"
        ok 'one of another user: not believed' says out "$at is not believed"
        ok 'one of another user: its text is nowhere' sh -c '! grep -q "Orin Nano Developer" out'
        inside "echo '$model' >/tmp/x; chown 65534 /tmp/x; : >$at; mount --bind /tmp/x $at"
        ok 'one of another user that is mounted' says out "$at says"
    else
        skip 'a model in /tmp of another user' 'only root can make one'
    fi
else
    skip 'a model in /tmp' 'needs namespaces, and a machine without a device tree'
fi
done_testing

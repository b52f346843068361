#!/bin/sh
# --boards: which board, why, each channel with its file, what is missing and why.
. "$NVMTOP_SRC/tests/cli/lib.sh"
unset NVMTOP_BOARD JETSON_MODEL_NAME

run nvmtop --boards
ok 'this machine' is "$status" 0
ok 'all boards are listed' sh -c 'for b in nano tx1 tx2 tx2_nx agx_xavier xavier_nx agx_orin igx_orin orin_nx orin_nano agx_thor generic demo; do grep -qw $b out || exit 1; done'

run nvmtop --boards --sysroot "$roots/agx_orin-36"
ok 'AGX Orin' says out 'Jetson AGX Orin (agx_orin)'
ok 'says why' says out 'nvidia,p3701-0000'
ok 'a rail with its file' says out 'VDD_GPU_SOC.voltage .*medium *mV .*/in1_input'
ok 'power mode' says out 'MODE_30W'

for r in orin_nx-36-offline:orin_nx orin_nano-36-super:orin_nano pc:generic agx_orin-35:agx_orin \
    container-36-model:orin_nano container-36-bare:orin_nano custom-orin-36:tegra234 agx_orin-36-as-nano:agx_orin; do
    run nvmtop --boards --sysroot "$roots/${r%:*}"
    ok "${r%:*} is ${r#*:}" says out "(${r#*:})"
done

run nvmtop --boards --sysroot "$roots/container-36-model"
ok 'in a container: what was handed in' says out '/tmp/nv_jetson_model says "NVIDIA Jetson Orin Nano'
run nvmtop --boards --sysroot "$roots/container-36-bare"
ok 'or the sensors' says out 'recognised by its sensors (hwmon=ina3221/VDD_CPU_GPU_CV'
run nvmtop --boards --sysroot "$roots/custom-orin-36"
ok 'an unknown carrier says so' says out 'no board file names this module'
ok 'its sensors are found' says out 'VDD_IN.power'
ok 'an unknown revision is still a JetPack' says out 'JetPack: 6$'
run nvmtop --boards --sysroot "$roots/agx_orin-36-as-nano"
ok 'what it is made to imitate is said' says out 'imitating an Orin Nano 4GB'

# of this machine, by what the environment says
run env NVMTOP_BOARD=agx_xavier $EMU "$NVMTOP" --boards
ok 'NVMTOP_BOARD chooses' says out 'Jetson AGX Xavier (agx_xavier): NVMTOP_BOARD says "agx_xavier"'
run env NVMTOP_BOARD=nonesuch $EMU "$NVMTOP" --boards
ok 'a board that is none is an error' is "$status" 2
ok 'and the variable is named' says err 'NVMTOP_BOARD: .*nonesuch'
run env NVMTOP_BOARD=agx_xavier $EMU "$NVMTOP" --boards --board tx2
ok '--board counts more' says out '(tx2): chosen on the command line'
if test -e /proc/device-tree/compatible; then
    skip 'JETSON_MODEL_NAME' 'this machine has a device tree'
else
    run env JETSON_MODEL_NAME=JETSON_ORIN_NANO $EMU "$NVMTOP" --boards
    ok 'JETSON_MODEL_NAME as a name' says out '(orin_nano): JETSON_MODEL_NAME says'
    run env JETSON_MODEL_NAME='NVIDIA Jetson Xavier NX Developer Kit' $EMU "$NVMTOP" --boards
    ok 'JETSON_MODEL_NAME as a model' says out '(xavier_nx): JETSON_MODEL_NAME says'
fi

# A board that this machine is not: everything missing, each with its reason.
for b in nano tx1 tx2 tx2_nx agx_xavier xavier_nx agx_orin igx_orin orin_nx orin_nano agx_thor; do
    run nvmtop --boards --board $b --sysroot "$roots/pc"
    ok "$b on a PC" is "$status" 0
    ok "$b on a PC: no rail is there" sh -c '! sed "/^Missing/,\$d" out | grep -q "\.power "'
    run nvmtop --once --board $b --sysroot "$roots/pc"
    ok "$b on a PC: one reading" is "$status" 0
done

mkdir -p config/nvmtop/boards
printf 'board mine\ntitle "My carrier"\nslow temp cpu zone=cpu-thermal\n' >config/nvmtop/boards/mine.board
run nvmtop --boards
ok "the user's own boards are found" says out 'My carrier'
run nvmtop --boards --board mine --sysroot "$roots/agx_orin-36"
ok 'and chosen by name' says out 'temp.cpu'
printf 'board broken\ntitle "Broken"\nslow nonsense x\n' >broken.board
run nvmtop --boards --board ./broken.board
ok 'a broken board file fails' test "$status" -ne 0
ok 'with file and line' says err 'broken.board:3'
done_testing

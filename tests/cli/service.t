#!/bin/sh
# The units of systemd: understood as a whole, and locked up.
. "$NVMTOP_SRC/tests/cli/lib.sh"
if ! systemd-analyze --version >/dev/null 2>&1; then
    echo '1..0 # SKIP systemd-analyze is not installed: ./bootstrap --tests installs systemd'
    exit 0
fi
mkdir bin units
for program in nvmtop nvmtop-setup; do
    printf '#!/bin/sh\n' >bin/$program
    chmod +x bin/$program
done
for unit in nvmtop-setup nvmtop-record@ nvmtop-serve; do
    sed "s|@s*bindir@|$scratch/bin|" "$NVMTOP_SRC/setup/$unit.service.in" >"units/$unit.service"
    ok "$unit: names what is installed" says "units/$unit.service" "^ExecStart=$scratch/bin/nvmtop"
done
cp units/nvmtop-record@.service units/nvmtop-record@here.service
for unit in nvmtop-setup nvmtop-record@here nvmtop-serve; do
    run env SYSTEMD_UNIT_PATH="$scratch/units:" systemd-analyze verify --man=no "units/$unit.service"
    ok "$unit: verify" is "$status" 0
    ok "$unit: not a word" is "$(cat out err)" ''
    if systemd-analyze --help | grep -q -e --offline; then
        run systemd-analyze security --offline=true --threshold=25 "units/$unit.service"
        ok "$unit: its exposure is below 2.5" is "$status" 0
        tail -1 out | sed 's/^/# /'
    else
        skip "$unit: its exposure is below 2.5" 'this systemd cannot tell offline: install version 250 or later'
    fi
done
ok 'the options that a service has without a file are those of the example' is \
    "$(sed -n 's/^OPTIONS="\(.*\)"$/\1/p' "$NVMTOP_SRC/setup/nvmtop-record.conf")" \
    "$(sed -n 's/^Environment="OPTIONS=\([^"]*\)".*/\1/p' units/nvmtop-record@.service)"
# shellcheck disable=SC2046
run nvmtop --demo --record --duration 0.2 $(sed -n 's/^OPTIONS="\(.*\)"$/\1/p' "$NVMTOP_SRC/setup/nvmtop-record.conf")
ok 'and options of nvmtop' is "$status" 0
done_testing

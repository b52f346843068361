#!/bin/sh
# nvmtop control: the list, values as people write them, what is said of a change, and what happens where the program that
# makes the changes is not there, is refused, dies, or answers what no such program would.
. "$NVMTOP_SRC/tests/cli/lib.sh"
if test -n "$EMU"; then
    echo '1..0 # SKIP built for another machine: run it there'
    exit 0
fi
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
"$python" "$NVMTOP_SRC/tests/control/stage.py" orin tree || exit 99
gpu=tree/sys/class/devfreq/17000000.gpu
control() { run nvmtop control "$@" --sysroot tree; }
# said STATUS TEXT: the exit status and all that was printed
said() { is "$status:$(cat out)" "$1:$2"; }
# told STATUS TEXT: the exit status and the only line, on standard error
told() { is "$status:$(cat out err)" "$1:nvmtop: $2" && one_line err; }
# json EXPRESSION: over j, the object that was printed
json() { "$python" -c 'import json, sys
j = json.load(open("out", encoding="utf-8"))
sys.exit(0 if eval(sys.argv[1]) else json.dumps(j, indent=1))' "$1"; }

# --- the list ---

control list
cp out listed
ok 'the list' says out '^What can be set on Jetson AGX Orin (agx_orin), as root; '
ok 'a fan with its profile, and those that there are' says out '^  fan  *quiet  *0\.\.100 auto cool quiet$'
ok 'the power mode, and all' says out '^  mode  *MODE_30W  *0:MAXN 1:MODE_15W 2:MODE_30W 3:MODE_50W$'
ok 'clocks of the GPU, and their ends' says out '^  clocks.gpu  *306M\.\.612M  *306M\.\.1300.5M in 8 steps$'
ok 'what is not here has the reason' says out '^  3d-scaling  *--  *cannot be set: not here: /sys/devices/'
control
ok 'it is what control does without a word' cmp out listed
control list --json
ok 'as JSON' json 'j["version"] == 1 and [c["name"] for c in j["controls"]][:4] == ["fan", "mode", "clocks", "clocks.gpu"]'
ok 'in hertz, with every step' json '[(c["value"], len(c["allowed"]), "refused" in c) for c in j["controls"] if c["name"] == "clocks.gpu"] == [
    ("306000000..612000000", 8, False)]'
ok 'without a value that there is not' json '[sorted(c) for c in j["controls"] if c["name"] == "3d-scaling"][0] == ["allowed", "name", "needs_root", "refused"]'
run nvmtop control list --sysroot "$roots/pc" --board generic
ok 'a PC' says out '^What can be set on Linux (generic)'

# --- changes, each by the program that tests have in place of the one that is installed ---

control clocks gpu=408M..1.3G
ok 'clocks, the nearest steps' said 0 'clocks.gpu: 306M..612M -> 408M..1300.5M'
ok 'they are in the files' is "$(cat $gpu/min_freq $gpu/max_freq | tr '\n' ' ')" '408000000 1300500000 '
control clocks gpu=408M..1.3G
ok 'again: nothing to do' said 0 'clocks.gpu: 408M..1300.5M already'
control clocks gpu=..612MHz cpu=729.6M..1.19G
ok 'several at a time, and up from the lowest' said 0 'clocks.gpu: 408M..1300.5M -> 306M..612M
clocks.cpu: 729.6M..1728M -> 729.6M..1190.4M'
control clocks emc=1.6G
ok 'a cap' said 0 'clocks.emc: 0..2133M -> 0..1600M'
control clocks emc=max
ok 'no cap' said 0 'clocks.emc: 0..1600M -> 0..max'
control governor gpu=PERFORMANCE
ok 'a governor' said 0 'governor.gpu: nvhost_podgov -> performance'
control mode 50w
ok 'a mode by what is behind MODE_' said 0 'mode: MODE_30W -> MODE_50W'
control mode 2 --json
ok 'and by its number, as JSON' json 'j["status"] == 0 and [(c["before"], c["wanted"], c["after"], c["result"], c["id"] > 0)
    for c in j["changes"]] == [("MODE_50W", "MODE_30W", "MODE_30W", "done", True)] and sorted(j) == ["changes", "status", "version"]'
control drop-caches
ok 'caches' said 0 'drop-caches: done'
control restore --dry-run
ok 'what would be put back' says out '^governor.gpu: would change: performance -> nvhost_podgov$'
ok 'is not' is "$(cat $gpu/governor)" performance
control restore
ok 'restore' is "$status" 0
ok 'it says what it does' says out '^governor.gpu: performance -> nvhost_podgov$'
ok 'the list is as it was' sh -c '"$@" >again && diff listed again' sh "$NVMTOP" control --sysroot tree
control clocks gpu=408M..612M --for 60s
ok 'for a time' says out '^clocks.gpu: 306M\.\.612M -> 408M\.\.612M, back in 60 s unless it is kept: nvmtop control keep [0-9]*$'
id=$(sed 's/.* //' out)
control revert "$id"
ok 'and back before' said 0 'clocks.gpu: 408M..612M -> 306M..612M'
control clocks gpu=408M..612M --for 1s
ok 'it ends by itself' soon grep -qx 306000000 $gpu/min_freq
control clocks gpu=408M..612M --for 60s
id=$(sed 's/.* //' out)
control governor gpu=performance --for 60s
control keep "$id" "$(sed 's/.* //' out)"
ok 'two changes can be kept at once' sh -c 'test "$(grep -c "^clocks.gpu: .*\|^governor.gpu: " out)" = 2 && ! grep kept out'
control restore
control fan 80 --dry-run
ok '--dry-run' says out '^fan: would change: quiet -> 80%: '
ok 'changes nothing' test -d tree/sys/fs/cgroup/system.slice/nvfancontrol.service

# --- what does not take ---

echo lies >tree/behave/nvpmodel
control mode MAXN
ok 'nvpmodel in a container is found out' is "$status:$(cat out)" 1:
ok 'with what it said' says err '^nvmtop: mode: .*MAXN.*; nvpmodel said: Running in chroot, ignoring request$'
echo reboot >tree/behave/nvpmodel
control mode MAXN
ok 'a mode that needs a reboot' says err '^nvmtop: mode: .*reboot.*sudo nvpmodel -m 0'
echo fails >tree/behave/nvpmodel
control mode MAXN --json
ok 'nvpmodel that fails, as JSON' json 'j["status"] == 1 and j["changes"][0]["result"] == "failed" and "this did not work" in j["changes"][0]["why"]'
rm tree/behave/nvpmodel
control restore

# --- what is not valid ---

for words in 'mode' 'foo' 'fan 1 2' 'list 3' 'keep' 'drop-caches 3' 'keep x' 'mode 2 --for 0.5s' 'keep 1 --for 5s' 'mode 2 --board generic'; do
    # shellcheck disable=SC2086
    control $words
    ok "not valid: $words" is "$status:$(cat out)" 2:
done
control fan 120
ok 'a value that it does not take' told 4 'fan cannot be "120" here; it takes: 0..100 auto cool quiet'
control clocks gpu=700M
ok 'no such step' told 4 'clocks.gpu cannot be "700M" here; it takes: 306M 408M 510M 612M 714M 816M 918M 1300.5M'
control clocks gpu=612M..306M
ok 'the wrong way round' is "$status" 4
control clocks dla=1G
ok 'no such thing' told 4 'there is no "clocks.dla" to be set here; nvmtop control list shows what there is'
control 3d-scaling on
ok 'what is not here' says err '^nvmtop: 3d-scaling cannot be set: not here: '
control mode M
ok 'several could be meant' told 4 'mode: "M" is ambiguous: MAXN, MODE_15W, MODE_30W, MODE_50W'
control mode zzz --json
ok 'refused, as JSON' json 'j["status"] == 4 and j["changes"] == [] and j["error"].startswith("mode cannot be")'

# --- the helper ---

mkdir -p beside/src beside/boards
cp "$NVMTOP" beside/src/nvmtop
cp "$NVMTOP_SRC"/boards/* beside/boards/
helper=beside/src/nvmtop-control-test
# with BEHAVIOUR [WORD...]: a helper that does that, and takes the request
cat >helper.py <<'END'
import os, sys, time
does = os.environ["DOES"]
def say(*fields):
    sys.stdout.write("\t".join(fields) + "\n")
    sys.stdout.flush()
change = ["change", "mode", "MODE_30W", "MAXN", "MAXN", "done", "7", "0", ""]
if does == "busy":
    say("end", "1", "another change is being made; try again")
    sys.exit(1)
if does == "exits":
    sys.exit(3)
if does == "greets":
    say("hello")
    sys.exit(0)
say("ready", "1")
if does == "dead":
    os.kill(os.getpid(), 9)
for line in sys.stdin:
    open("request", "a").write(line)
    if does == "dies":
        say(*change)
        sys.stdout.write("change\tfan")
        sys.stdout.flush()
        os.kill(os.getpid(), 9)
    elif does == "hangs":
        continue
    elif does == "escapes":
        say(*(change[:2] + ["\x1b[2J"] + change[3:]))
    elif does == "result":
        say(*(change[:5] + ["perhaps"] + change[6:]))
    elif does == "id":
        say(*(change[:6] + ["-1"] + change[7:]))
    elif does == "long":
        say(*(change[:1] + ["m" * 40] + change[2:]))
    elif does == "fields":
        say(*(change + ["more"]))
    elif does == "endless":
        sys.stdout.write("m" * 5000)
        sys.stdout.flush()
    elif does == "status":
        say("end", "9", "")
    else:
        say(*change)
    say("end", "0", "")
open("eof", "w").close()
say("end", "0", "")
END
printf '#!/bin/sh\nexec "%s" "%s/helper.py" 2>/dev/null\n' "$python" "$scratch" >stand-in
chmod +x stand-in
with() {
    DOES=$1
    export DOES
    shift
    rm -f request eof
    run $EMU beside/src/nvmtop control "$@" --sysroot tree
}
with works mode MAXN
ok 'it is not there' told 1 'settings below another folder than / are changed only by tests, in a source tree that was built'
: >$helper
with works mode MAXN
ok 'it cannot be run' says err 'nvmtop-control-test, which cannot be run (Permission denied): install all of nvmtop$'
cp -p --remove-destination stand-in $helper
with works mode maxn --for 2m
ok 'it gets the normal form' is "$(cat request)" 'mode MAXN --for 120000ms'
ok 'its answer' said 0 'mode: MODE_30W -> MAXN'
ok 'it has ended by itself' test -f eof
with works clocks gpu=408M..1.3G cpu=1190400000 --dry-run
ok 'in hertz' is "$(cat request)" 'clocks gpu=408000000..1300500000 cpu=1190400000..1190400000 --dry-run'
with works fan 33.4%
ok 'a percentage' is "$(cat request)" 'fan 33'
with works fan COOL
ok 'a word' is "$(cat request)" 'fan cool'
with works swap 64Mi
ok 'bytes' is "$(cat request)" 'swap 67108864'
with works restore 'mode fan'
ok 'a blank in a word' is "$status:$(cat request 2>/dev/null)" 2:
with busy mode MAXN
ok 'it cannot begin' told 1 'another change is being made; try again'
with exits mode MAXN
ok 'it ends at once' says err 'nvmtop-control-test ended with status 3 before it had begun$'
for does in dead dies; do
    with $does mode MAXN
    ok "it is killed ($does): status" is "$status" 1
    ok "it is killed ($does): what to do" says err 'ended with status 137 before it had answered; nvmtop control restore puts back what it changed$'
done
ok 'with what it had done until then' says out '^mode: MODE_30W -> MAXN$'
for does in greets escapes result id long fields endless status; do
    with $does mode MAXN
    ok "not an answer: $does" told 1 "$(sed -n 's/^nvmtop: \(.*\) gave an.*/\1/p' err) gave an answer that is not valid: is it of another version than nvmtop?"
done
DOES=hangs
rm -f request eof
$EMU beside/src/nvmtop control mode MAXN --sysroot tree 2>err &
pid=$!
ok 'it hangs' soon test -s request
kill -TERM $pid
wait $pid
ok 'nvmtop does not' is $? 143
ok 'and its end is that of the input' soon test -f eof

# --- who asks for root: stand-ins for pkexec and sudo in a mount namespace ---

made() { sed -n "s/^$1 = //p" "${NVMTOP%/src/nvmtop}/Makefile"; }
prefix=$(made prefix)
exec_prefix=$(eval "echo $(made exec_prefix)")
export prefix exec_prefix
program=$(eval "echo $(made libexecdir)/nvmtop/nvmtop-control")
mkdir bin real
# What is in /usr/bin stays, all but these two.
(
    set -f
    ln -s $(ls /usr/bin | sed "s|^|$scratch/real/|") bin/
)
cat >enter.sh <<'END'
set -e
cd "$SCRATCH"
mount --bind /usr/bin real
rm -f bin/pkexec bin/sudo
mount --bind bin /usr/bin
top=$(dirname "$PROGRAM")
until test -d "$top"; do top=$(dirname "$top"); done
mount -t tmpfs none "$top"
mkdir -p "$(dirname "$PROGRAM")"
test -n "${LACKING-}" || cp stand-in "$PROGRAM"
for name in $PRESENT; do
    printf '#!/bin/sh\necho "%s $*" >>ran\ntest -z "$%s_STATUS" || exit $%s_STATUS\nexec ./stand-in\n' $name $name $name >bin/$name
    chmod +x bin/$name
done
test "${USER_IS-}" = root || set -- unshare --user "$@"
test -z "${TERMINAL-}" || exec "$PYTHON" -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$@"
exec setsid -w "$@"
END
# as PRESENT WORD...: as another user than root, without a terminal unless TERMINAL is set
as() {
    rm -f ran request
    PRESENT=$1
    DOES=works
    shift
    run env PRESENT="$PRESENT" DOES="$DOES" SCRATCH="$scratch" PYTHON="$python" PROGRAM="$program" unshare --user --map-root-user --mount sh enter.sh \
        $EMU "$NVMTOP" control "$@"
}
unset DISPLAY WAYLAND_DISPLAY
if ! unshare --user --map-root-user --mount mount -t tmpfs none real 2>why; then
    skip 'pkexec and sudo' "$(head -n 1 why): allow unprivileged user namespaces"
else
    as 'pkexec sudo' restore
    ok 'without a terminal or a desktop: sudo' is "$status:$(cat ran)" "0:sudo -- $program"
    ok 'the request' is "$(cat request)" restore
    export TERMINAL=yes
    as 'pkexec sudo' restore
    ok 'on a terminal: pkexec, which asks there' is "$status:$(cat ran)" "0:pkexec $program"
    unset TERMINAL
    export DISPLAY=:0
    as 'pkexec sudo' restore
    ok 'on a desktop: pkexec' is "$status:$(cat ran)" "0:pkexec $program"
    as 'sudo' restore
    ok 'without pkexec: sudo' is "$status:$(cat ran)" "0:sudo -- $program"
    export pkexec_STATUS=127
    as 'pkexec sudo' restore
    ok 'pkexec has nobody to ask: sudo' is "$status:$(cat ran)" "0:pkexec $program
sudo -- $program"
    export pkexec_STATUS=126
    as 'pkexec sudo' restore
    ok 'the user said no: nobody else is asked' is "$status:$(cat ran)" "4:pkexec $program"
    ok 'what that means' told 4 '/usr/bin/pkexec does not let you change settings; docs/control.md says how a group is allowed to'
    export sudo_STATUS=1
    as 'sudo' restore --json
    ok 'sudo says no, as JSON' json 'j["status"] == 4 and j["changes"] == [] and "/usr/bin/sudo does not let you" in j["error"]'
    as '' restore
    ok 'neither' told 4 'changes need root, and neither /usr/bin/pkexec nor /usr/bin/sudo can ask for it here: run nvmtop as root'
    as 'pkexec sudo' restore --dry-run
    ok '--dry-run needs none' is "$status:$(cat request):$(cat ran 2>/dev/null)" '0:restore --dry-run:'
    as 'pkexec sudo' list
    ok 'nor does a list' is "$status:$(cat ran 2>/dev/null)" 0:
    export USER_IS=root
    as 'pkexec sudo' restore
    ok 'nor does root' is "$status:$(cat request):$(cat ran 2>/dev/null)" 0:restore:
    export LACKING=yes
    as 'pkexec sudo' restore
    ok 'without the helper' told 1 "settings are changed by $program, which cannot be run (No such file or directory): install all of nvmtop"
fi
done_testing

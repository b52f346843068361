#!/bin/sh
# The command line: what is wrong is said in one sentence, with exit status 2.
. "$NVMTOP_SRC/tests/cli/lib.sh"

run nvmtop --help
ok 'help succeeds' is "$status" 0
for option in record replay demo once boards print output force duration delay json at view ascii color fast-hz medium-hz \
    slow-hz nice board sysroot mark to report export cut join check format summary per select phase epoch from tier \
    resample help version; do
    ok "help names --$option" says out "--$option"
    ok "the manual names --$option" grep -q "Fl Fl $option" "$NVMTOP_SRC/man/nvmtop.1"
done
run nvmtop -h
ok '-h is --help' is "$status" 0
run nvmtop --version
ok 'version' says out '^nvmtop [0-9]'

wrong() {
    name=$1
    shift
    run nvmtop "$@"
    ok "$name: status 2" is "$status" 2
    ok "$name: nothing on standard output" test ! -s out
    ok "$name: a sentence" says err '^nvmtop: '
}
wrong 'unknown option' --frobnicate
wrong 'unknown short option' -Z
wrong 'a value where none is taken' --record=x
ok 'a value where none is taken: that is said' says err 'takes no value'
wrong 'a misspelt option' --recrod
ok 'a misspelt option: the one that was meant' says err 'did you mean --record?'
wrong 'one dash' -replay x
ok 'one dash: two were meant' says err 'did you mean --replay?'
wrong 'the start of several' --re x
ok 'the start of several: they are named' says err '--record, --replay, --recover, --report, --resample'
wrong 'a long word' --$(printf '%0500d' 0)
ok 'a long word: no guess' says err 'is not an option$'
wrong 'a value is missing' --replay
wrong 'rate of zero' --fast-hz 0
wrong 'rate that is no number' --fast-hz fast
wrong 'negative rate' --slow-hz -1
wrong 'endless rate' --medium-hz inf
wrong 'rate that is too high' --fast-hz 1000000
wrong 'duration of zero' --record --duration 0
wrong 'duration that is no time' --record --duration soon
wrong 'two things at once' --record --once
wrong 'size without rows' --print 80
wrong 'size of zero' --print 0x24
wrong 'size that overflows' --print 99999999999999999999x24
wrong 'two traces to show' a.bin b.bin
wrong 'a second trace to show' --replay a.bin b.bin
ok 'a second trace to show: what to do' says err '--with FILE'
wrong 'command without --record' -- true
wrong 'no command behind --' --record --
wrong 'two files' --record a b
wrong 'two files, one by option' --record -o a b
wrong 'json without once' --json
wrong 'at without replay' --at 5
wrong 'at that is no time' --replay x --at never
wrong 'colour' --color blue
wrong 'view' --print 80x24 --demo --view nonsense
wrong 'niceness that is no number' --record --nice low
wrong 'niceness that does not exist' --record --nice 20
wrong 'niceness of one reading' --once --nice 5
wrong 'unknown board' --once --board no_such_board
wrong 'empty board' --once --board ''
wrong 'duration without record' --duration 5
wrong 'force without record' --force --once
wrong 'two labels' --mark a b
wrong 'mark and record' --mark --record
wrong 'to without mark' --to 1
wrong 'to that is no process' --mark --to 0
wrong 'to that is no number' --mark --to me
wrong 'replay with record' --record --replay x
wrong 'an option in place of a value' --report --select --from 1 x
ok 'an option in place of a value: that is said' says err '"--select" needs a value'
wrong 'no file to replay' --replay --ascii
ok 'no file to replay: that is said' says err '--replay needs a FILE'
wrong 'two that need a file' --cut --replay x
wrong 'a check as JSON' --check --json x
ok 'a check as JSON: that is said' says err '--json is only for --once'
run nvmtop --print 80x24 --demo --view nonsense
ok 'an unknown view: those that there are' says err '"nonsense"; .* overview, gpu, cpu, .* board'
run nvmtop --once --board no_such_board
ok 'an unknown board is named' says err no_such_board
run nvmtop "$(printf '%s\033[31m' --bad)"
ok 'escape sequences in arguments do not reach the terminal' sh -c '! grep -q "$(printf "\033")" err'

# An option whose file stands behind other options, and a file without an option.
trace=$NVMTOP_SRC/tests/traces/demo.bin
nvmtop --print 80x24 --replay "$trace" >plain
for line in "--print 80x24 $trace" "$trace --print 80x24" "--replay --print 80x24 $trace" "--replay=$trace --print 80x24"; do
    run nvmtop $line
    ok "as --replay FILE: nvmtop $(echo "$line" | sed "s,$trace,FILE,")" cmp plain out
done
run nvmtop --cut --from 1 --to 3 "$trace" -o cut.bin
ok '--cut before --from and --to' is "$status" 0
run nvmtop --check --no-config cut.bin
ok '--check before another option' is "$status" 0
run nvmtop --demo --record --duration 0.2 -
cp out stream.nvms
run nvmtop --recover --force stream.nvms
ok '--recover before --force' is "$status" 0
for mode in --once --boards --version -V --help "--report $trace" '--record --duration 0.1 x.bin' '--mark'; do
    run nvmtop --demo --no-config $mode
    ok "--no-config with $mode" sh -c '! grep -q "config" err'
done
ok '-V is --version' test "$(nvmtop -V)" = "$(nvmtop --version)"

for term in '' dumb no-such-terminal; do
    run env TERM="$term" setsid $EMU "$NVMTOP" --demo </dev/null
    ok "no screen with TERM='$term': status 2" is "$status" 2
    ok "no screen with TERM='$term': says what to use" says err '--record'
    ok "no screen with TERM='$term': one line" one_line err
done
done_testing

#!/bin/sh
# The command line: what is wrong is said in one sentence, with exit status 2.
. "$NVMTOP_SRC/tests/cli/lib.sh"

run nvmtop --help
ok 'help succeeds' is "$status" 0
verbs='record replay report export cut check mark once boards env'
for verb in $verbs; do
    ok "help names $verb" says out "^  $verb "
    run nvmtop "$verb" --help
    ok "$verb --help succeeds" is "$status" 0
    ok "$verb --help begins with its usage" says out "^Usage: nvmtop $verb "
    ok "$verb --help: no line ends in a blank" sh -c '! grep " $" out'
    cp out help
    run nvmtop help "$verb"
    ok "help $verb is the same" cmp out help
    run nvmtop --help
done
for verb in record replay; do
    run nvmtop "$verb" --help
    cp out help
    run nvmtop "--$verb" --help
    ok "--$verb --help is that of $verb" cmp out help
done
for option in duration delay kill stats repeat warmup force split flush keep trigger after nice; do
    run nvmtop record --help
    ok "record has --$option" says out "--$option "
done
run nvmtop record --help
ok "record has --nvtx" says out "  --nvtx\[=DOMAIN,...|all\] record"
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
    case $(cat err) in
    # Of the screen, found later; the sentence has what there is.
    *'unknown view'*) ;;
    *) ok "$name: where the help is" says err "^Try 'nvmtop .*--help'\.$" ;;
    esac
}
wrong 'unknown option' --frobnicate
wrong 'unknown short option' -Z
wrong 'a value where none is taken' --demo=x
ok 'a value where none is taken: that is said' says err 'takes no value'
wrong 'a misspelt option' --recrod
ok 'a misspelt option: the one that was meant' says err 'did you mean --record?'
wrong 'one dash' -replay x
ok 'one dash: two were meant' says err 'did you mean --replay?'
wrong 'the start of several' --re x
ok 'the start of several: they are named' says err '--record, --replay, --retain, --repeat, --ready-fd, --resample'
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
for verb in report export check cut mark once boards stream serve control sweep env; do
    wrong "a verb as an option: $verb" --$verb x
    ok "a verb as an option: $verb: that is said" says err "^nvmtop: \"--$verb\" is not an option, but a verb: nvmtop $verb\$"
done
wrong 'a verb as an option, and one of the other' --record --once
wrong 'size without rows' --print 80
wrong 'size of zero' --print 0x24
wrong 'size that overflows' --print 99999999999999999999x24
wrong 'a stream beside a trace' a.nvmt -
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
wrong 'niceness of one reading' once --nice 5
wrong 'unknown board' once --board no_such_board
wrong 'empty board' once --board ''
wrong 'duration without record' --duration 5
wrong 'force without record' once --force
wrong 'two labels' mark a b
wrong 'mark and record' mark --record
wrong 'to without mark' --to 1
wrong 'to that is no process' mark --to 0
wrong 'to that is no number' mark --to me
wrong 'replay with record' --record --replay x
wrong 'an option in place of a value' report --select --from 1 x
ok 'an option in place of a value: that is said' says err '"--select" needs a value'
wrong 'no file to replay' --replay --ascii
ok 'no file to replay: that is said' says err 'replay needs a FILE'
wrong 'two that need a file' cut --replay x
wrong 'a check as JSON' check --json x
ok 'a check as JSON: that is said' says err '--json is not an option of nvmtop check, but of nvmtop once'
wrong 'an export format that does not exist' export xml x
ok 'an export format that does not exist: those that do' says err '^nvmtop: unknown export format "xml": use csv, jsonl, perfetto, nvmt1$'
run nvmtop --print 80x24 --demo --view nonsense
ok 'an unknown view: those that there are' says err '"nonsense"; .* overview, gpu, cpu, .* board'
run nvmtop once --board no_such_board
ok 'an unknown board is named' says err no_such_board
run nvmtop "$(printf '%s\033[31m' --bad)"
ok 'escape sequences in arguments do not reach the terminal' sh -c '! grep -q "$(printf "\033")" err'

# Verbs: as wrong as the options that are their other names.
wrong 'an option of another verb' record --summary
ok 'an option of another verb: which one has it' says err '--summary is not an option of nvmtop record, but of nvmtop report'
wrong 'an option of several others' boards --force
ok 'an option of several others: they are named' says err 'but of nvmtop record, nvmtop export, nvmtop cut$'
wrong 'an option of no verb' report --frobnicate x
wrong 'a misspelt option of a verb' record --durtion 5
ok 'a misspelt option of a verb: the one that was meant' says err 'did you mean --duration?'
wrong 'the start of several of a verb' record --f x
ok 'the start of several of a verb: only its own' says err 'ambiguous: --force, --flush, --fast-hz$'
wrong 'a mode with a verb' record --report
wrong 'sampling options of a verb that samples nothing' report --fast-hz 5 x
wrong 'help of no verb' help frobnicate
# unknown MEANT WORD...
unknown() {
    meant=$1
    shift
    wrong "no verb: $*" "$@"
    ok "no verb: $*: it is called that" says err "^nvmtop: unknown verb \"$1\""
    ok "no verb: $*: what was meant" says err "; did you mean \"$meant\"?\$"
}
unknown report repotr
unknown report repotr x
unknown record recor x
unknown check chekc x
unknown record rec
unknown record rec --duration 5
unknown record profile -- x
unknown record start
unknown boards list
unknown nvmtop top
unknown --version version
wrong 'a word without a like' frobnicate
ok 'a word without a like: no guess' says err '^nvmtop: unknown verb "frobnicate", and no such file$'
wrong 'help of a part of a verb' help rec
ok 'help of a part of a verb: what was meant' says err '^nvmtop: unknown verb "rec".*"record"?$'
for verb in record report export boards; do
    wrong "an option that $verb lacks" "$verb" --frobnicate
    ok "the help of $verb" says err "^Try 'nvmtop $verb --help'\.\$"
done
wrong 'no option of the screen' --frobnicate
ok 'the help of the screen' says err "^Try 'nvmtop --help'\.\$"
# What is wrong may be found only when a board or a trace is open.
wrong 'an unknown board' record --demo --board nonesuch
wrong 'an unknown signal of a trigger' record --demo --keep 5 --trigger 'nonesuch > 3'
wrong 'an unknown view of a replay' replay --view nonesuch "$NVMTOP_SRC/tests/traces/demo.nvmt"
ok 'an unknown view of a replay: the help of the verb' says err "^Try 'nvmtop replay --help'\.\$"
for file in other.nvmt boards. ./report; do
    run nvmtop $file
    ok "$file is a file that does not exist" says err "cannot read $file"
done

# A command without "--" would be taken for the file, and its options for those of nvmtop.
# command SENTENCE WORD...
command() {
    sentence=$1
    shift
    wrong "record $*" record --demo --duration 0.1 "$@"
    ok "record $*: how it is meant" says err "^nvmtop: $sentence\$"
}
printf '#!/bin/sh\n' >prog
cp prog prog.bin
chmod +x prog prog.bin
cp prog before
how='to record a command: nvmtop record'
one='only one output file can be given; '
command "\"./prog\" is a program; $how -- ./prog" ./prog
command "\"./prog\" is a program; $how -- ./prog" ./prog --force
command "\"./prog\" is a program; $how -- ./prog" --force ./prog
command "\"prog\" is a program; $how -- ./prog" prog
command "\"prog.bin\" is a program; $how -- ./prog.bin" prog.bin
command "\"sleep\" is a program; $how -- sleep" sleep
command "$one$how -- sleep 1" sleep 1
command "$one$how -- sleep 1 \.\.\." sleep 1 --frobnicate
command "\"sh\" is a program; $how -- sh \.\.\." sh -c 'echo x'
command "$one$how a.nvmt -- ./prog" a.nvmt ./prog
command "$one$how -- ./prog" -o a.nvmt ./prog
command "$one$how -- a b" a b
ok 'the program is what it was' cmp before prog
ok 'and nothing was recorded' sh -c '! ls a.nvmt* sleep* 2>/dev/null'
for word in sleep.nvmt ./sleep; do
    run nvmtop record --demo --duration 0.1 "$word"
    ok "a recording may be called $word" is "$status" 0
done
chmod +x sleep.nvmt sleep
for word in sleep.nvmt ./sleep; do
    run nvmtop record --demo --duration 0.1 --force "$word"
    ok "$word may be executable, as on a FAT file system" is "$status" 0
done
run nvmtop record --demo --duration 0.1 -o date
ok 'a recording may have the name of a program by -o' is "$status" 0
run nvmtop record --demo uname -- true
ok 'a recording may have the name of a program before a command' is "$status" 0
wrong 'nothing to replay' replay
wrong 'nothing to check' check
wrong 'two to check' check a b
wrong 'nothing to report' report
wrong 'no form' export
wrong 'a form that does not exist' export xml x
wrong 'nothing to export' export csv
wrong 'a file to export and a stream' export csv a -
for part in '--select gpu.util' '--from 1' '--to 2' '--phase 1' '--tier fast' '--resample 5'; do
    # shellcheck disable=SC2086
    wrong "a part as version 1: $part" export nvmt1 $part x.nvmt -o y.bin
    ok "a part as version 1: $part: what writes one" says err 'nvmtop cut'
done
wrong 'cut without a range' cut a -o b
wrong 'cut without an output' cut a --from 1
wrong 'cut to standard output' cut a --from 1 -o -
wrong 'a range that ends before it begins' report --from 5 --to 4 a
wrong 'an operand for once' once x
wrong 'an operand for boards' boards x
wrong 'two labels with a verb' mark a b
wrong 'a process that is none' mark --pid 0
wrong 'no command with a verb' record --
wrong 'a command for the screen' --demo -- true
wrong 'a stream with --force' record - --force
wrong 'a stream that is split' record - --split 5
wrong 'a stream that is flushed' record - --flush 5
wrong '--trigger without --keep' record --trigger 'gpu > 5'
wrong 'at without a file' --demo --at 5
wrong 'with without a file' --demo --with x
wrong 'align without with' replay x --align start
wrong 'follow of one frame' replay x --follow --print 80x24
wrong 'a picture without --print' replay x --format svg
wrong 'a table on the screen' replay x --format table
wrong 'recording options for a replay' replay x --split 5
wrong 'recording options for a file' x.nvmt --split 5
ok 'recording options for a file: that is said' says err '^nvmtop: --flush, --split, .* are only for nvmtop record and the live screen'
wrong 'niceness for a file' x.nvmt --nice 5
wrong 'two settings files' --config x --no-config
wrong 'an interval of zero' -d 0
wrong 'an interval of a minute' --interval 60

wrong 'a signal that does not exist' record --duration 1 --kill SIGNONSENSE -- true
ok 'a signal that does not exist: what there is' says err 'it takes none, or a signal such as TERM'
wrong 'signal 0' record --duration 1 --kill 0 -- true
wrong 'a signal that is too high' record --duration 1 --kill 1000 -- true
wrong '--kill without --duration' record --kill TERM -- true
wrong '--kill without a command' record --kill TERM --duration 1
wrong '--repeat without a command' record --repeat 2
for number in 0 101 -1 2.5 x ''; do
    wrong "--repeat $number" record --repeat "$number" -- true
done
wrong '--warmup without --repeat' record --warmup 2 -- true
wrong '--warmup 101' record --repeat 2 --warmup 101 -- true
for option in --stats '--repeat 2'; do
    for other in '-o -' '--keep 5' '--split 5' '--split 1M'; do
        # shellcheck disable=SC2086
        wrong "$option with $other" record $option $other -- true
        ok "$option with $other: that is said" says err '^nvmtop: --stats and --repeat report one file'
    done
done
wrong 'nvtx of a report' report --nvtx x
wrong 'an operand for env' env x
wrong 'a form of env that does not exist' env --format csh

# The start of an option is enough where it is that of no other.
run nvmtop --rep
ok 'the start of two' is "$status" 2
for word in --boar --board; do
    run nvmtop once $word no_such_board
    ok "the start of one: $word" is "$status" 2
    ok "the start of one: $word: its value is taken" says err no_such_board
done
run nvmtop --demo once
ok 'a verb is the first word only: else a file' says err 'cannot read once'
ok 'that does not exist' is "$status" 1

# An option whose file stands behind other options, and a file without an option.
trace=$NVMTOP_SRC/tests/traces/demo.nvmt
nvmtop --print 80x24 --replay "$trace" >plain
for line in "--print 80x24 $trace" "$trace --print 80x24" "--replay --print 80x24 $trace" "--replay=$trace --print 80x24"; do
    run nvmtop $line
    ok "as --replay FILE: nvmtop $(echo "$line" | sed "s,$trace,FILE,")" cmp plain out
done
cp "$trace" repotr
run nvmtop repotr --print 80x24
ok 'a file whose name is almost that of a verb' is "$status" 0
cp "$trace" report
run nvmtop ./report --print 80x24
ok 'a file with the name of a verb' is "$status" 0
ok 'a file with the name of a verb: it is shown' says out ' report '
run nvmtop replay "$trace" --print 80x24
ok 'replay FILE' cmp plain out
run nvmtop replay --print 80x24 -- "$trace"
ok 'replay -- FILE' cmp plain out
# same NAME 'NEW WORDS' 'OLD WORDS' ...: the same on standard output, and the same exit status
same() {
    run nvmtop $2
    is "$status" 0 || echo "# status $status"
    cp out new
    name=$1
    shift 2
    for line in "$@"; do
        run nvmtop $line
        ok "$name: $(echo "$line" | sed "s,$trace,FILE,g")" cmp new out
    done
    ok "$name: something is written" test -s new
}
same report "report --summary $trace" "report $trace --summary --no-config" "report --summary -- $trace"
same export "export csv $trace --to 1" "export --to 1 csv $trace" "export csv --to=1 $trace" "export csv -o - --to 1 $trace"
same boards 'boards --board demo' 'boards --demo' 'boards --board=demo'
run nvmtop once --json --demo
ok 'once --json' is "$status" 0
for line in 'record --demo --duration 0.2 new.bin' '--demo --record new.bin --duration=0.2' 'record --demo --dur 0.2 -o new.bin' \
    'record --demo --duration 0.2 -onew.bin --flush 1' '--record --demo --duration 0.2 --flush 1 new.bin' \
    'record --demo -o new.bin -- sleep 0.2' '--demo --record new.bin -- sleep 0.2'; do
    rm -f new.bin new.nvmt
    run nvmtop $line
    ok "nvmtop $line" test "$status:$(nvmtop check new.bin | cut -d';' -f1)" = 0:valid
done
for line in "cut $trace --from 1 --to 3 -o new.bin" "cut --to 3 $trace --from 1 -o new.bin" \
    "cut $trace --to 3 --from 1 new.bin" "cut -o new.bin cut.bin --from 1 --to 3 $trace"; do
    rm -f new.bin
    run nvmtop $line
    case $line in
    *cut.bin*) ok 'cut: two outputs' is "$status" 2 ;;
    *) ok "nvmtop $(echo "$line" | sed "s,$trace,FILE,")" nvmtop check new.bin ;;
    esac
done
wrong 'version 1 to standard output' export nvmt1 "$trace"
ok 'version 1 to standard output: what it needs' says err '^nvmtop: nvmtop export nvmt1 needs a file'

run nvmtop cut --from 1 --to 3 "$trace" -o cut.bin
run nvmtop check --no-config cut.bin
ok 'check before another option' is "$status" 0
run nvmtop --demo --record --duration 0.2 -
cp out stream.nvmt
for mode in once boards --version -V --help "report $trace" '--record --duration 0.1 x.bin' mark; do
    run nvmtop $mode --no-config
    ok "$mode with --no-config" sh -c '! grep -q "config" err'
done
ok '-V is --version' test "$(nvmtop -V)" = "$(nvmtop --version)"

for term in '' dumb no-such-terminal; do
    run env TERM="$term" setsid $EMU "$NVMTOP" --demo </dev/null
    ok "no screen with TERM='$term': status 2" is "$status" 2
    ok "no screen with TERM='$term': says what to use" says err 'nvmtop record'
    ok "no screen with TERM='$term': one line" one_line err
done
run env SSH_CONNECTION='10.0.0.1 5000 10.0.0.2 22' setsid $EMU "$NVMTOP" --demo </dev/null
ok 'over ssh without a terminal: status 2' is "$status" 2
ok 'over ssh without a terminal: the option that gives one' says err 'ssh -t HOST nvmtop'
done_testing

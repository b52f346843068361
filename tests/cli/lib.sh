# Sourced by the command-line tests: TAP, a scratch folder, and the program.
# $EMU runs it when it was built for another machine.
set -u
scratch=$(mktemp -d "${TMPDIR:-/tmp}/nvmtop-cli-XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
python=/usr/bin/python3
test -x "$python" || python=python3
# Nothing of the user's own.
XDG_CONFIG_HOME=$scratch/config
XDG_RUNTIME_DIR=$scratch/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
NVMTOP_RUNTIME_DIR=$scratch/service # which is not there: nor a service of this machine
export XDG_CONFIG_HOME XDG_RUNTIME_DIR NVMTOP_RUNTIME_DIR
unset LANGUAGE NO_COLOR
roots=$NVMTOP_ROOTS

# NVMTOP_TEST_MEASURE=no leaves out what measures, in a build whose speed says nothing.
measures() {
    test "${NVMTOP_TEST_MEASURE:-yes}" = yes && return
    echo '1..0 # SKIP NVMTOP_TEST_MEASURE says not to measure: unset it'
    exit 0
}

# A shell cannot undo that its parent ignores SIGHUP, as nohup does.
hup_ignored() { test $((0x$(sed -n 's/^SigIgn:[[:space:]]*0*\([0-9a-f]\)/\1/p' /proc/self/status) & 1)) = 1; }

nvmtop() { $EMU "$NVMTOP" "$@"; }

n=0
# ok NAME CONDITION...: the condition is a command
ok() {
    n=$((n + 1))
    title=$1
    shift
    if "$@" >"$scratch/.why" 2>&1; then
        echo "ok $n - $title"
    else
        echo "not ok $n - $title"
        echo "# failed: $*"
        sed 's/^/# /' "$scratch/.why"
    fi
}
skip() {
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}
# golden NAME: the screen in the file got is the one that was looked at; UPDATE=1 writes it anew.
# Without the line of tabs, which a new view changes everywhere.
golden() {
    sed 's/^ *1\( \{0,1\}[A-Z][a-z]*\.\{0,1\}\)\{0,1\}  *2 \{0,1\}[ A-Z0-9].*/(tabs)/' got >golden
    test -z "${UPDATE:-}" || cp golden "$NVMTOP_SRC/tests/screens/$1.txt"
    ok "$1" diff -u "$NVMTOP_SRC/tests/screens/$1.txt" golden
}
# --demo without marks of its own, which come after 24 s, for tests that count their own.
demo_without_marks() {
    mkdir "$scratch/boards"
    sed '/^slow event mark /d' "$NVMTOP_SRC/boards/demo.board" >"$scratch/boards/demo.board" || exit 99
    export NVMTOP_BOARDS="$scratch/boards"
}
# has_rows FILE N, has_marks FILE N: a log that is being written has so many, of the fast tier
brief() { "$python" "$NVMTOP_SRC/tests/tools/nvmt-log.py" --brief "$1"; }
has_rows() { test "$(brief "$1" | sed -n 's/^{"end":.*"rows": {"0": \([0-9]*\).*/\1/p')" -ge "$2"; }
has_marks() { test "$(brief "$1" | grep -c '^{"mark":')" -ge "$2"; }
done_testing() { echo "1..$n"; }

# Ends the test where Python cannot load the library that was built.
need_library_for_python() {
    if test -n "$EMU"; then
        echo '1..0 # SKIP built for another machine: run it there'
        exit 0
    fi
    if grep -q '^SAN_CFLAGS = .*fsanitize' "${NVMTOP%/src/nvmtop}/Makefile"; then
        echo '1..0 # SKIP a library with sanitizers cannot be loaded into Python: build without'
        exit 0
    fi
}

# Lets Python find the module in the sources, and the library that was built.
find_python_module() {
    NVMTOP_LIBRARY=${NVMTOP%/src/nvmtop}/libnvmtop.so.1
    PYTHONPATH=$NVMTOP_SRC/python
    PYTHONDONTWRITEBYTECODE=1
    export NVMTOP_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE
}

# The same, in a test that is of nothing else.
use_python_module() {
    need_library_for_python
    find_python_module
}

# run COMMAND...: leaves $status, and the files out and err
run() {
    "$@" >out 2>err
    status=$?
}
is() {
    test "$1" = "$2" || {
        echo "got      $1"
        echo "expected $2"
        sed 's/^/stderr: /' err 2>/dev/null
        return 1
    }
}
# Until a condition holds; a generous while.
soon() {
    i=0
    until "$@" >/dev/null 2>&1; do
        i=$((i + 1))
        test $i -lt 300 || return 1
        sleep 0.1
    done
}
# record_begin OPTION... FILE: $pid is a recorder in the background that has begun, or has failed; its errors go to err
record_begin() {
    test -p ready || mkfifo ready
    $EMU "$NVMTOP" --demo --record --ready-fd 9 "$@" 2>err 9>ready &
    pid=$!
    read -r _ <ready
}
one_line() { is "$(wc -l <"$1")" 1; }
says() { grep -q -- "$2" "$1" || { echo "no \"$2\" in $1 (status ${status-}):"; cat "$1"; test "$1" = err || sed 's/^/stderr: /' err 2>/dev/null; return 1; }; }
# judge FILE EXPRESSION: a Python expression over what an independent reader of the log,
# or of version 1, found in the file; tell EXPRESSION FILE...: what it is of each
judge() { "$python" "$NVMTOP_SRC/tests/tools/nvmt-log-check.py" --that "$2" "$1"; }
tell() { "$python" "$NVMTOP_SRC/tests/tools/nvmt-log-check.py" --tell "$@"; }

#!/bin/sh
# The environment in which programs record their NVTX ranges.
. "$NVMTOP_SRC/tests/cli/lib.sh"

unset NVTX_INJECTION64_PATH NVMTOP_NVTX NVMTOP_NVTX_DIR
# A copy of the program finds the library where a build has it.
mkdir -p "tree/s r'c"
tree=$(cd tree && pwd -P)
cp "$NVMTOP" "tree/s r'c/nvmtop"
copy() { $EMU "$tree/s r'c/nvmtop" "$@"; }

run copy env
if test "$status" = 0; then
    skip 'no library' 'it is installed'
else
    ok 'no library: a sentence' says err '^nvmtop: cannot record NVTX ranges: .*/libnvmtop-nvtx.so: No such file'
    ok 'no library: one line' one_line err
    ok 'no library: status' test "$status:$(cat out)" = 1:
    run copy record --demo a.nvmt --nvtx -- touch ran
    ok 'no library: the program is not run' test "$status:$(ls ran a.nvmt 2>/dev/null)" = 1:
fi
: >tree/libnvmtop-nvtx.so
lib=$tree/libnvmtop-nvtx.so

run copy env
ok 'env' is "$status" 0
ok 'env: the variables' is "$(cat out)" "export NVTX_INJECTION64_PATH=$lib
export NVMTOP_NVTX_DIR=$XDG_RUNTIME_DIR/nvmtop
export NVMTOP_NVTX="
ok 'env: the folder exists, and is private' is "$(stat -c %a "$XDG_RUNTIME_DIR/nvmtop")" 700
cp out plain
run copy env --nvtx
ok 'env --nvtx is the same' cmp out plain
run copy env '--nvtx=all'
ok '--nvtx=all' says out '^export NVMTOP_NVTX=all$'
run copy env "--nvtx=default,it's mine"
(eval "$(cat out)" && printf %s "$NVMTOP_NVTX") >value
ok 'domains with blanks and quotes' is "$(cat value)" "default,it's mine"
run copy env --nvtx all
ok 'a domain is joined by =' is "$status" 2

run copy env --format systemd '--nvtx=50%,a"b\c'
ok 'systemd' is "$(cat out)" "[Service]
Environment=\"NVTX_INJECTION64_PATH=$lib\"
Environment=\"NVMTOP_NVTX_DIR=$XDG_RUNTIME_DIR/nvmtop\"
Environment=\"NVMTOP_NVTX=50%%,a\\\"b\\\\c\""
run copy env --format docker --nvtx=TensorRT
ok 'docker' is "$(cat out)" "--env NVTX_INJECTION64_PATH=$lib
--volume $lib:$lib:ro
--env NVMTOP_NVTX_DIR=$XDG_RUNTIME_DIR/nvmtop
--volume $XDG_RUNTIME_DIR/nvmtop:$XDG_RUNTIME_DIR/nvmtop
--env NVMTOP_NVTX=TensorRT"

run env NVMTOP_NVTX_DIR="$scratch/there" $EMU "$tree/s r'c/nvmtop" env
ok 'a folder that is set is kept' says out "^export NVMTOP_NVTX_DIR=$scratch/there$"
run env NVMTOP_NVTX_DIR=there $EMU "$tree/s r'c/nvmtop" env
ok 'one that is not absolute is refused' says err 'NVMTOP_NVTX_DIR is not an absolute path'
if test -d "/run/user/$(id -u)" || ! test -k /dev/shm || test -e "/dev/shm/nvmtop-$(id -u)"; then
    skip 'in memory where there is no folder of a session' 'there is one'
else
    run env -u XDG_RUNTIME_DIR $EMU "$tree/s r'c/nvmtop" env
    ok 'in memory where there is no folder of a session' says out "^export NVMTOP_NVTX_DIR=/dev/shm/nvmtop-$(id -u)$"
    rmdir "/dev/shm/nvmtop-$(id -u)"
fi
run env NVMTOP_NVTX_DIR="$scratch/no/there" $EMU "$tree/s r'c/nvmtop" env
ok 'a folder that cannot be created' test "$status:$(cat out)" = 1:
ok 'a folder that cannot be created: that is said' says err 'cannot create the folder .*/no/there: No such'

# Of another tool.
run env NVTX_INJECTION64_PATH=/opt/other.so $EMU "$tree/s r'c/nvmtop" env
ok 'a library that is set is kept' says out '^export NVTX_INJECTION64_PATH=/opt/other.so$'
ok 'a library that is set: what that means' says err '^nvmtop: NVTX_INJECTION64_PATH is set to /opt/other.so and is kept: .* nvmtop gets none'
ok 'a library that is set: one line' one_line err
run env NVTX_INJECTION64_PATH="$lib" $EMU "$tree/s r'c/nvmtop" env
ok 'our own is no other' test "$status:$(cat err)" = 0:

# vars is a program that prints the variables.
vars='echo "$NVTX_INJECTION64_PATH|$NVMTOP_NVTX_DIR|${NVMTOP_NVTX-unset}"; exit 8'
run copy record --demo b.nvmt --nvtx -- sh -c "$vars"
ok 'record --nvtx: the status of the program' is "$status" 8
ok 'record --nvtx sets the variables' is "$(cat out)" "$lib|$XDG_RUNTIME_DIR/nvmtop|"
run copy record --demo c.nvmt --nvtx=TensorRT,default -- sh -c "$vars"
ok 'record --nvtx=D,D' is "$(cat out)" "$lib|$XDG_RUNTIME_DIR/nvmtop|TensorRT,default"
run env NVTX_INJECTION64_PATH=/opt/other.so $EMU "$tree/s r'c/nvmtop" record --demo d.nvmt --nvtx=all -- sh -c "$vars"
ok 'record --nvtx keeps a library that is set' is "$(cat out)" "/opt/other.so|$XDG_RUNTIME_DIR/nvmtop|all"
ok 'record --nvtx keeps a library that is set: that is said' says err '/opt/other.so and is kept'
run copy record --demo e.nvmt -- sh -c "$vars"
ok 'record without --nvtx sets none' is "$(cat out)" '||unset'
done_testing

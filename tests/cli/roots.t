#!/bin/sh
# Every fake board: what boards says of it and what once --json reads, line
# by line as in tests/expected.  UPDATE=1 writes these files anew: then look at
# the difference.  Where there is no FUSE, and for root too, a file that cannot
# be read is a folder of its name.
. "$NVMTOP_SRC/tests/cli/lib.sh"
expected=$NVMTOP_SRC/tests/expected
unset NVMTOP_BOARD JETSON_MODEL_NAME

# One channel a line, without what is another number in every run.
cat >flat.py <<'END'
import json, sys
t = json.load(open(sys.argv[1]))
moves = ("energy.total",)
for k, v in sorted(t["facts"].items()):
    print("fact", k, "=", v)
bad = 0
for c in t["channels"]:
    v = c["value"]
    bad += (v is None) != ("reason" in c) or ("reason" in c and not c["reason"])
    if c["name"] in moves or c["name"].endswith(".window"):
        v = "moves"
    rest = {k: x for k, x in c.items() if k not in ("name", "value") and (k != "reason" or v is None)}
    print(c["name"], "=", json.dumps(v, ensure_ascii=False))
    for k, x in rest.items():
        print("   ", k + ":", json.dumps(x, ensure_ascii=False) if not isinstance(x, str) else x)
sys.exit(1 if bad else 0)
END

same() {
    if test "${UPDATE-}" = 1; then
        mkdir -p "$expected" && cp "$1" "$expected/$1"
        return
    fi
    diff -u "$expected/$1" "$1"
}
# A channel under "Missing" has a sentence behind its name.
reasons() { sed -n '/^Missing/,/^$/p' "$1" | grep '^  ' | awk 'NF < 3 { print; bad = 1 } END { exit bad }'; }

ln -s "$roots" roots
# Each takes two readings, a second apart: all at once.
for r in roots/*; do
    (nvmtop once --json --sysroot "$r" >"${r#*/}.json" 2>"${r#*/}.err"; echo $? >"${r#*/}.status") &
done
wait
for r in roots/*; do
    r=${r#*/}
    run nvmtop boards --sysroot "roots/$r"
    ok "$r: boards" is "$status" 0
    sed '/^Known boards:$/,$d' out >"$r.boards"
    ok "$r: boards is as expected" same "$r.boards"
    ok "$r: each missing channel has a reason" reasons "$r.boards"
    cp "$r.err" err
    ok "$r: once --json" is "$(cat "$r.status")" 0
    ok "$r: a value or a reason" sh -c "'$python' flat.py $r.json >'$r.once'"
    ok "$r: once is as expected" same "$r.once"
done
done_testing

#!/bin/sh
# A report needs as much memory for its numbers as for a page of them.
. "$NVMTOP_SRC/tests/cli/lib.sh"
measures
cat >many.py <<'END'
import struct
n = 25000     # phases, of a fast row each; version 1 alone
rows = n + 100
head = struct.pack("<II32s4B3I4Q", 0x4E564D54, 1, b"test", 2, 1, 1, 1, 1000, 100, 10, rows, rows // 10, rows // 100, n)
with open("many.nvmt", "wb") as f:
    f.write(head + b"VDD".ljust(192, b"\0") + b"cpu".ljust(384, b"\0") + bytes(64))
    for i in range(rows):
        f.write(struct.pack("<dH16ffQQf", i / 1000, i % 1000, *[i % 100] * 2, *[0.0] * 14, i % 100, 10**6, 10**6, 5.0))
    for i in range(rows // 10):
        f.write(struct.pack("<d8I8I8f", i / 100, 5000, *[0] * 7, i % 1000, *[0] * 7, 5.0 * (i % 1000), *[0.0] * 7))
    for i in range(rows // 100):
        f.write(struct.pack("<d16f", i / 10, 50.0, *[0.0] * 15))
    for i in range(n):
        f.write(struct.pack("<QQ", i + 1, i + 50))
END
"$python" many.py
cat >most.py <<'END'
import resource, subprocess, sys
with open("out", "wb") as f:
    status = subprocess.call([sys.argv[1], "report", *sys.argv[2:]], stdout=f)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
sys.exit(0 if status == 0 and most < 24 * 1024 else "status %d, %d kB" % (status, most))
END
ok 'a report over 25 000 phases: below 24 MB' "$python" most.py "$NVMTOP" --all many.nvmt
ok 'with all of them' is "$(grep -c '^phase ' out)" 25002
done_testing

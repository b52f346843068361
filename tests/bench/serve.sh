#!/bin/sh
# Memory and CPU time of nvmtop serve with two scrapers a second, beside those of a recorder on the same tree, in turn.
#   serve.sh [PAIRS [SECONDS]]      20 pairs of 5 s; NVMTOP, NVMTOP_BOARDS and NVMTOP_ROOTS as for the tests
# Each has two seconds before it is measured. CPU time is that of the scheduler, as in cost.py.
set -eu
exec "${PYTHON:-python3}" - "${1:-20}" "${2:-5}" <<'END'
import os, statistics, subprocess, sys, tempfile, threading, time, urllib.request

pairs, seconds = int(sys.argv[1]), float(sys.argv[2])
program, tree = os.environ.get("NVMTOP", "src/nvmtop"), os.environ.get("NVMTOP_ROOTS", "tests/roots") + "/agx_orin-36"


def measure(command, scrape, folder):
    with subprocess.Popen([program, *command, "--sysroot", tree], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env={**os.environ, "XDG_RUNTIME_DIR": folder}) as p:
        url = p.stdout.readline().split()[2] + "metrics" if scrape else None
        time.sleep(2)
        ended = threading.Event()

        def scraper():
            while not ended.wait(1):
                urllib.request.urlopen(url).read()

        threads = [threading.Thread(target=scraper) for _ in range(2 if scrape else 0)]
        for t in threads:
            t.start()
        cpu, begun = time.clock_gettime((~p.pid << 3) | 2), time.monotonic()
        time.sleep(seconds)
        cpu, wall = time.clock_gettime((~p.pid << 3) | 2) - cpu, time.monotonic() - begun
        ended.set()
        for t in threads:
            t.join()
        with open(f"/proc/{p.pid}/status") as f:
            kb = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
        p.terminate()
    return 100 * cpu / wall, kb / 1000


with tempfile.TemporaryDirectory() as folder:
    serve, record = [], []
    for _ in range(pairs):
        serve.append(measure(["serve", "--listen", "127.0.0.1:0"], True, folder))
        record.append(measure(["record", "--force", folder + "/x.nvmt"], False, folder))
for name, runs in (("serve, two scrapes a second", serve), ("record", record)):
    print(f"{name:28} {statistics.median(c for c, _ in runs):6.2f} % of a core, at most {max(m for _, m in runs):5.1f} MB")
print(f"serve / record, median of {pairs} pairs: {statistics.median(s[0] / r[0] for s, r in zip(serve, record)):.2f}; load average "
      f"{os.getloadavg()[0]:.1f}")
assert max(m for _, m in serve) < 12, "more than 12 MB"
END

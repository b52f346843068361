#!/usr/bin/env python3
"""Counts the lines of code in each folder of src and in include: those with more than white space and comments.

  budget.py TREE          prints the folders and their lines, as in budget.txt
  budget.py TREE TABLE    compares them with the limits in TABLE; a sentence for each folder above its limit, status 1
"""
import os
import re
import sys

# Comments, and what may look as if one began in it.
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)


def lines_of(text):
    plain = TOKEN.sub(lambda m: m.group() if m.group()[0] in "\"'" else "\n" * m.group().count("\n"), text)
    return sum(1 for line in plain.split("\n") if line.strip())


def count(tree):
    folders = {}
    for top in "src", "include":
        for folder, _, files in os.walk(os.path.join(tree, top)):
            name = "/".join(os.path.relpath(folder, tree).split(os.sep)[:2 if top == "src" else 1])
            for file in files:
                if file.endswith((".c", ".h")):
                    with open(os.path.join(folder, file), encoding="utf-8") as f:
                        folders[name] = folders.get(name, 0) + lines_of(f.read())
    return folders


def limits_of(table):
    with open(table, encoding="utf-8") as f:
        rows = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return {folder: int(lines) for folder, lines in rows}


def main():
    folders = count(sys.argv[1])
    if len(sys.argv) < 3:
        print("".join("%-12s %6d\n" % f for f in sorted(folders.items())), end="")
        return 0
    limits = limits_of(sys.argv[2])
    wrong = ["%s has %d lines of code and may have %d: take some out, or raise its limit in tests/tools/budget.txt "
             "and say why in the commit" % (f, n, limits[f]) for f, n in sorted(folders.items()) if n > limits.get(f, n)]
    wrong += ["%s has no limit: add it to tests/tools/budget.txt" % f for f in sorted(set(folders) - set(limits))]
    wrong += ["%s has a limit and no code: take it out of tests/tools/budget.txt" % f for f in sorted(set(limits) - set(folders))]
    print("\n".join(wrong or ["%s: %d lines of code, %d allowed" % (f, folders[f], limits[f]) for f in sorted(limits)]))
    return len(wrong) > 0


sys.exit(main())

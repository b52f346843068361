#!/usr/bin/env python3
"""Finds struct, union and enum tags of the lower half that mean something else in another file of it.

  names.py TREE          prints the tags that several files define, and those files
  names.py TREE TABLE    compares the tags with those that TABLE lists; a sentence for each that is wrong, status 1
"""
import os
import re
import sys

LOWER = "util", "model", "board", "engine", "trace", "record", "nvtx", "nsys"
# Comments and texts, in which a tag defines nothing.
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")


def shared(tree):
    tags = {}
    for top in LOWER:
        for folder, _, files in os.walk(os.path.join(tree, "src", top)):
            for file in files:
                if file.endswith((".c", ".h")):
                    with open(os.path.join(folder, file), encoding="utf-8") as f:
                        for tag in TAG.findall(TOKEN.sub(" ", f.read())):
                            tags.setdefault(tag, set()).add(os.path.relpath(os.path.join(folder, file), tree))
    return {tag: sorted(files) for tag, files in tags.items() if len(files) > 1}


def main():
    tags = shared(sys.argv[1])
    if len(sys.argv) < 3:
        print("".join("%-12s %s\n" % (tag, " ".join(tags[tag])) for tag in sorted(tags)), end="")
        return 0
    with open(sys.argv[2], encoding="utf-8") as f:
        known = {line.split()[0] for line in f if line.strip() and not line.startswith("#")}
    wrong = ["the tag \"%s\" is defined in %s: give it the word of its file" % (tag, " and ".join(tags[tag]))
             for tag in sorted(set(tags) - known)]
    wrong += ["the tag \"%s\" is in one file now: take it out of tests/tools/names.txt" % tag for tag in sorted(known - set(tags))]
    print("\n".join(wrong or ["%d tags are in two files" % len(tags)]))
    return len(wrong) > 0


sys.exit(main())

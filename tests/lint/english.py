#!/usr/bin/env python3
"""How often words that make a text hard to read occur in comments and docs, per 1,000 words, by room.

usage: english.py [PATH...]    default: src, docs, README.md; files that git knows"""
import collections, re, subprocess, sys

WORDS = {"who": r"whoever|whom|whose|who", "somebody": r"(?:no|some|any|every)(?:body|one)",
         "stand": r"stands?|stood|standing", "tell": r"tells?|told|untold", "gone": "gone", "anew": "anew",
         "he": "he|him|his|himself"}


def prose(path, text):
    if path.endswith(".md"):
        return re.sub(r"```.*?```", "", text, flags=re.S)
    comments = re.findall(r"/\*(?!@).*?\*/|//[^\n]*", text, flags=re.S)
    return " ".join(comment for comment in comments if "SPDX" not in comment)


def main(paths):
    total, found = collections.Counter(), collections.Counter()
    listed = subprocess.run(["git", "ls-files", "--", *paths], capture_output=True, text=True, check=True).stdout
    for path in listed.split():
        if path.endswith((".c", ".h", ".def", ".go", ".md")):
            text = prose(path, open(path, encoding="utf-8").read()).lower()
            part = path.split("/")
            room = part[1] if part[0] == "src" or "decisions" in part else "docs" if part[0] == "docs" else part[0]
            for key in (room, "all"):
                total[key] += len(re.findall(r"[a-z][a-z']*", text))
                for word, pattern in WORDS.items():
                    found[key, word] += len(re.findall(rf"\b(?:{pattern})\b", text))
    print(f"{'':12}{'words':>8}" + "".join(f"{word:>10}" for word in WORDS))
    for room in sorted(total, key=lambda room: (room == "all", room)):
        rates = (1000 * found[room, word] / max(total[room], 1) for word in WORDS)
        print(f"{room:12}{total[room]:8}" + "".join(f"{rate:10.1f}" for rate in rates))


if __name__ == "__main__":
    main(sys.argv[1:] or ["src", "docs", "README.md"])

#!/usr/bin/env python3
"""Holds the parity policies against the libraries they imitate, line by line of a URL list.

    scripts/parity.py target/release/dedupe top100.txt [MORE.txt ...]

Installs the libraries from PyPI into a temporary environment, gives each line of the lists to them and to
`dedupe normalize --policy ...`, and prints the lines whose keys differ. Exit code 1 if there is one that
is not excepted.

Where a library raises an exception there is no key to be equal to. The policy then gives the line itself,
of kind opaque, so that every line has a key. The reasons, and where they come from:
"""
import os
import subprocess
import sys
import tempfile
import venv

PACKAGES = ["surt==0.3.1", "w3lib==2.5.0", "urlcanon==0.3.1", "idna==3.20"]

POLICIES = {
    "surt@0.3.1": "surt.surt(line)",
    "w3lib@2.5": "w3lib.url.canonicalize_url(line).encode()",
    "urlcanon-semantic@0.3.1": "bytes(urlcanon.semantic(line))",
}

EXCEPTIONS = {
    "surt@0.3.1": [
        ("AttributeError", "nothing is left of a blank line, and it asks None for its scheme"),
        ("ValueError", "a port that is no number, or above 65535; a host of more than 4300 digits"),
    ],
    "w3lib@2.5": [
        ("ValueError", "a port that is no number, or above 65535; brackets without an IPv6 address; "
                       "a character in the authority that NFKC makes a delimiter"),
    ],
    "urlcanon-semantic@0.3.1": [
        ("AddressValueError", "a host that int() reads as a negative number, as in http://-1/"),
    ],
}

# Not excepted because no line shows them, but not promised either: hosts with characters that the Unicode of
# the Python at hand (w3lib: NFKC; surt and w3lib: lower case) and of this crate do not both have.

RUNNER = """
import sys, surt, w3lib.url, urlcanon
for line in sys.stdin.buffer.read().split(b"\\n")[:-1]:
    try:
        key = b"=" + (%s)
    except Exception as error:
        key = b"!" + type(error).__name__.encode()
    sys.stdout.buffer.write(key + b"\\n")
"""


def main():
    binary, lists = sys.argv[1], sys.argv[2:]
    lines = []
    for name in lists:
        with open(name, "rb") as file:
            # A carriage return at the end of a line is part of the line end for `dedupe`.
            lines += [line.rstrip(b"\r") for line in file.read().rstrip(b"\n").split(b"\n")]
    text = b"\n".join(lines) + b"\n"
    n_wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = os.path.join(folder, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
        for policy, call in POLICIES.items():
            theirs = output([python, "-c", RUNNER % call], text)
            ours = output([binary, "normalize", "--show-credentials", "--policy", policy], text)
            n_wrong += compare(policy, lines, ours, theirs)
    sys.exit(1 if n_wrong else 0)


def output(command, text):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True).stdout.split(b"\n")[:-1]


def compare(policy, lines, ours, theirs):
    assert len(lines) == len(ours) == len(theirs), (len(lines), len(ours), len(theirs))
    known = dict(EXCEPTIONS[policy])
    n_equal = n_excepted = n_wrong = 0
    for line, own, their in zip(lines, ours, theirs):
        is_key, key = their[:1] == b"=", their[1:]
        if is_key and own == key:
            n_equal += 1
        elif not is_key and key.decode() in known and own == line:
            n_excepted += 1
            print(f"{policy}: excepted: {line!r}: {key.decode()}: {known[key.decode()]}")
        else:
            n_wrong += 1
            print(f"{policy}: WRONG: {line!r}\n  ours   {own!r}\n  theirs {their!r}")
    print(f"{policy}: {len(lines)} lines, {n_equal} equal, {n_excepted} excepted, {n_wrong} wrong")
    return n_wrong


if __name__ == "__main__":
    main()

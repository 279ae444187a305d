#!/usr/bin/env python3
"""Print how many records FastWARC (PyPI: fastwarc) reads of each archive below a folder: the table tests/it/fastwarc.tsv.

    python3 -m venv venv && venv/bin/pip install fastwarc
    venv/bin/python scripts/fastwarc-counts.py FOLDER > tests/it/fastwarc.tsv

One line an archive: name, records, and `end` or `stops` where an error ended the reading.
"""
import pathlib, sys
from importlib.metadata import version
from fastwarc.warc import ArchiveIterator

folder = pathlib.Path(sys.argv[1])
print(f"# file\trecords that FastWARC {version('fastwarc')} reads\twhether it comes to the end")
for path in sorted(folder.rglob("*")):
    if not (path.name.endswith(".warc") or path.name.endswith(".warc.gz")):
        continue
    n, end = 0, "end"
    try:
        for record in ArchiveIterator(str(path), parse_http=False):
            record.reader.read()
            n += 1
    except Exception:
        end = "stops"
    print(f"{path.relative_to(folder).as_posix()}\t{n}\t{end}")

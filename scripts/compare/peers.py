"""Peers in Python that scripts/compare.sh runs: what they print is how many had been seen before.

    peers.py fastwarc|warcio ARCHIVE
    peers.py duckdb-cdx|duckdb-cdxj INDEX THREADS
"""
import hashlib
import sys


def fastwarc(path):
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    types = WarcRecordType.response | WarcRecordType.resource
    seen, n_again = set(), 0
    # Parsing by itself it would end at a continuation record, which is HTTP by its type but has no head.
    for record in ArchiveIterator(path, record_types=types, parse_http=False, inplace=True):
        record.parse_http(auto_decode="transfer")
        digest = hashlib.sha1(record.reader.read()).digest()
        n_again += digest in seen
        seen.add(digest)
    return n_again


def warcio(path):
    from warcio.archiveiterator import ArchiveIterator

    seen, n_again = set(), 0
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream, no_record_parse=False):
            if record.rec_type not in ("response", "resource"):
                continue
            hasher = hashlib.sha1()
            payload = record.raw_stream
            if record.http_headers and record.http_headers.get_header("Transfer-Encoding") == "chunked":
                from warcio.bufferedreaders import ChunkedDataReader

                payload = ChunkedDataReader(payload)
            while block := payload.read(1 << 16):
                hasher.update(block)
            digest = hasher.digest()
            n_again += digest in seen
            seen.add(digest)
    return n_again


CDX = """read_csv(?, delim=' ', quote='', escape='', header=false, skip=1, auto_detect=false, columns={
    'urlkey': 'varchar', 'timestamp': 'varchar', 'url': 'varchar', 'mime': 'varchar', 'status': 'varchar',
    'digest': 'varchar', 'redirect': 'varchar', 'robots': 'varchar', 'length': 'varchar', 'offset': 'varchar',
    'filename': 'varchar'})"""
CDXJ = """(select json_extract_string(line[instr(line, '{'):], '$.url') url from read_csv(?, delim='\x01',
    quote='', escape='', header=false, auto_detect=false, columns={'line': 'varchar'}))"""


def duckdb(lines, path, threads):
    import duckdb as engine

    connection = engine.connect(config={"threads": int(threads)})
    query = f"select sum(n - 1)::bigint from (select url, count(*) n from {lines} group by url)"
    return connection.execute(query, [path]).fetchone()[0]


job, *arguments = sys.argv[1:]
if job == "duckdb-cdx":
    print(duckdb(CDX, *arguments))
elif job == "duckdb-cdxj":
    print(duckdb(CDXJ, *arguments))
else:
    print({"fastwarc": fastwarc, "warcio": warcio}[job](*arguments))

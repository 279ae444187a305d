"""Peers in Python that scripts/compare.sh runs: what they print is how many had been seen before.

    peers.py fastwarc|warcio ARCHIVE
    peers.py duckdb-cdx|duckdb-cdxj INDEX THREADS             lines by URL
    peers.py duckdb-cdx-report|duckdb-cdxj-report INDEX THREADS REPORT [MEMORY FOLDER]
                                                              rows of URL and digest groups, written as CSV; in so much memory
                                                              (1GiB), with FOLDER for the rest
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


CDXJ_ROWS = """(select json_extract_string(json, '$.url') url, json_extract_string(json, '$.digest') digest,
    json_extract_string(json, '$.mime') mime, json_extract_string(json, '$.status') status, timestamp,
    json_extract_string(json, '$.length') length, json_extract_string(json, '$.offset') "offset",
    json_extract_string(json, '$.filename') filename
    from (select line[instr(line, '{'):] json, split_part(line, ' ', 2) timestamp from read_csv(?, delim='\x01',
    quote='', escape='', header=false, auto_detect=false, columns={'line': 'varchar'})))"""


def duckdb_report(lines, path, threads, report, memory=None, folder=None):
    """As near as one query comes to the report: each row with the sizes of its groups and the first URL of its content."""
    import duckdb as engine

    config = {"threads": int(threads)}
    if memory:
        # The order of the input is no part of the job, and costs memory.
        config |= {"memory_limit": memory, "temp_directory": folder, "preserve_insertion_order": False}
    connection = engine.connect(config=config)
    query = f"""copy (select * from (select *, count(*) over (partition by url) n_url,
        count(*) over (partition by digest) n_digest,
        first_value(url) over (partition by digest order by timestamp) keeper_url from {lines})
        where n_url > 1 or n_digest > 1) to '{report}' (format csv)"""
    return connection.execute(query, [path]).fetchone()[0]


job, *arguments = sys.argv[1:]
if job == "duckdb-cdx":
    print(duckdb(CDX, *arguments))
elif job == "duckdb-cdxj":
    print(duckdb(CDXJ, *arguments))
elif job == "duckdb-cdx-report":
    print(duckdb_report(CDX, *arguments))
elif job == "duckdb-cdxj-report":
    print(duckdb_report(CDXJ_ROWS, *arguments))
else:
    print({"fastwarc": fastwarc, "warcio": warcio}[job](*arguments))

//! Puts captures out, in order, and says what is true of them.

use std::io::{self, Write};

use crawl_dedupe::capture::Timestamp;
use rayon::prelude::*;

use super::capture::{Capture, Kind, Role, Wholeness};
use super::index;
use super::random::Random;
use super::record::{self, Storage};
use super::text::Press;
use super::{Format, Health, Options, Outputs};

/// The columns of the truth.
const TRUTH: &str =
    "ordinal,offset,length,url,timestamp,record_type,url_class,content,page,role,planted\n";

/// Captures of a damaged archive that cannot be read, counted from 0.
const BROKEN: [u64; 2] = [5, 14];
/// Captures of a damaged archive that stand behind something that is no record.
const AFTER_GARBAGE: [u64; 1] = [9];

/// Where the output has got to.
pub(crate) struct Writer<'o, W, X> {
    options: &'o Options,
    press: &'o Press,
    outputs: Outputs<W, X>,
    /// Bytes put out.
    pub(crate) offset: u64,
    ordinal: u64,
    n_captures: u64,
    /// Lines of an index that wait to be compressed.
    block: Vec<u8>,
    n_lines: u64,
}

/// Lines in a gzip member, as in zipnum.
const LINES_IN_MEMBER: u64 = 3_000;

impl<'o, W: Write, X: Write> Writer<'o, W, X> {
    pub(crate) fn new(options: &'o Options, press: &'o Press, outputs: Outputs<W, X>) -> Self {
        Self {
            options,
            press,
            outputs,
            offset: 0,
            ordinal: 0,
            n_captures: 0,
            block: Vec::new(),
            n_lines: 0,
        }
    }

    pub(crate) fn begin(&mut self) -> io::Result<()> {
        self.outputs.truth.write_all(TRUTH.as_bytes())?;
        self.outputs.cdx.write_all(index::HEADER.as_bytes())?;
        match self.options.format {
            Format::Warc => {
                let info = record::warcinfo(self.options.storage, &self.options.name);
                self.put(&info)
            }
            Format::Cdx => self.put_line(index::HEADER.as_bytes()),
            Format::Cdxj => Ok(()),
        }
    }

    pub(crate) fn end(mut self) -> io::Result<()> {
        if self.options.health == Health::Damaged {
            let last = record::warcinfo(self.options.storage, &self.options.name);
            self.put(&last[..last.len() - 40])?;
        }
        self.put_block()?;
        self.outputs.archive.flush()?;
        self.outputs.cdx.flush()?;
        self.outputs.cdxj.flush()?;
        self.outputs.truth.flush()
    }

    /// Writes one line of an index.
    fn put_line(&mut self, line: &[u8]) -> io::Result<()> {
        self.ordinal += 1;
        if self.options.storage == Storage::Plain {
            self.offset += line.len() as u64;
            return self.outputs.archive.write_all(line);
        }
        self.block.extend_from_slice(line);
        self.n_lines += 1;
        if self.n_lines == LINES_IN_MEMBER {
            self.put_block()
        } else {
            Ok(())
        }
    }

    fn put_block(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let member = record::gzip(&self.block);
        self.block.clear();
        self.n_lines = 0;
        self.offset += member.len() as u64;
        self.outputs.archive.write_all(&member)
    }

    /// Writes one record.
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.outputs.archive.write_all(bytes)?;
        self.offset += bytes.len() as u64;
        self.ordinal += 1;
        Ok(())
    }

    pub(crate) fn write(&mut self, batch: &[Capture]) -> io::Result<()> {
        if self.options.format != Format::Warc {
            return batch.iter().try_for_each(|capture| self.line(capture));
        }
        let (press, storage) = (self.press, self.options.storage);
        let records: Vec<record::Records> = batch
            .par_iter()
            .map(|capture| record::write(capture, press, storage))
            .collect();
        for (capture, records) in batch.iter().zip(records) {
            self.capture(capture, records)?;
        }
        Ok(())
    }

    fn capture(&mut self, capture: &Capture, mut records: record::Records) -> io::Result<()> {
        let (first, others) = records
            .stored
            .split_first_mut()
            .expect("a capture's record");
        let is_damaged = self.options.health == Health::Damaged;
        if is_damaged && AFTER_GARBAGE.contains(&self.n_captures) {
            self.put(&b"This is not a record. ".repeat(20))?;
        }
        if is_damaged && BROKEN.contains(&self.n_captures) {
            let half = first.len() / 2;
            first[half..half + 30].fill(0x55);
        } else {
            self.tell(capture, &records.digest, first.len() as u64)?;
        }
        self.n_captures += 1;
        self.put(first)?;
        others.iter().try_for_each(|record| self.put(record))
    }

    /// The truth of the record that comes next, and its index lines.
    fn tell(&mut self, capture: &Capture, digest: &str, length: u64) -> io::Result<()> {
        let stored = index::Stored {
            digest,
            offset: self.offset,
            length,
            file: &self.options.name,
        };
        let Outputs { cdx, cdxj, .. } = &mut self.outputs;
        cdx.write_all(index::cdx(capture, stored).as_bytes())?;
        cdxj.write_all(index::cdxj(capture, stored).as_bytes())?;
        self.truth(capture, self.offset, length)
    }

    /// One line of an archive that does not exist.
    fn line(&mut self, capture: &Capture) -> io::Result<()> {
        let digest = made_up_digest(self.options.seed, capture);
        let offset = self.ordinal * 7_000;
        let length = 1_000 + self.ordinal % 6_000;
        let stored = index::Stored {
            digest: &digest,
            offset,
            length,
            file: &self.options.name,
        };
        let line = match self.options.format {
            Format::Cdxj => index::cdxj(capture, stored),
            _ => index::cdx(capture, stored),
        };
        self.truth(capture, offset, length)?;
        self.put_line(line.as_bytes())
    }

    fn truth(&mut self, capture: &Capture, offset: u64, length: u64) -> io::Result<()> {
        let truth = &capture.truth;
        let mut timestamp = Vec::new();
        Timestamp::new(capture.time, 0).write_rfc3339(&mut timestamp);
        let page = truth.page.map(|page| page.to_string());
        let content = match capture.wholeness {
            Wholeness::Truncated => None,
            _ => capture.content(),
        };
        let record_type = match capture.kind {
            Kind::Response => "response",
            Kind::Resource => "resource",
            Kind::Revisit(_) => "revisit",
        };
        write!(
            self.outputs.truth,
            "{},{offset},{length},{},",
            self.ordinal,
            quoted(&capture.url)
        )?;
        self.outputs.truth.write_all(&timestamp)?;
        writeln!(
            self.outputs.truth,
            ",{record_type},{},{},{},{},{}",
            truth.class,
            content.unwrap_or_default(),
            page.unwrap_or_default(),
            truth.role.map_or("", Role::name),
            quoted(&truth.planted)
        )
    }
}

/// A cell, quoted if it must be.
fn quoted(text: &str) -> String {
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// SHA-1 of a body that nobody made: as good as any, and a thousand times as fast.
fn made_up_digest(seed: u64, capture: &Capture) -> String {
    let Some(id) = capture.body.id() else {
        return "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ".to_owned();
    };
    let mut random = Random::of_part(seed, id);
    let mut bytes = Vec::with_capacity(24);
    for _ in 0..3 {
        bytes.extend_from_slice(&random.next().to_le_bytes());
    }
    data_encoding::BASE32.encode(&bytes[..20])
}

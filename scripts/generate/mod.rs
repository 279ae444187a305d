//! Crawl archives of any size with known truth, the same bytes for the same options on every machine.
//!
//! Scenes are played one after the other into a pool, from which captures are drawn at random, so that what belongs together
//! does not stand together. Batches of captures are written by all threads and put out in order.

pub(crate) mod capture;
mod index;
pub(crate) mod plant;
mod random;
mod record;
mod scene;
mod script;
mod spelling;
mod stage;
mod text;
mod writer;

use std::io::{self, Write};

use plant::{Fetches, Plant, Rate};
use random::Random;
use script::Script;
use stage::{Evidence, Stage};
use text::Press;
use writer::Writer;

pub(crate) use record::Storage;

/// What is made.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) seed: u64,
    pub(crate) limit: Limit,
    pub(crate) format: Format,
    pub(crate) storage: Storage,
    /// The name that index lines give the archive.
    pub(crate) name: String,
    /// Median length of a page.
    pub(crate) median: u32,
    /// URLs that share one page of boilerplate, 51 or more.
    pub(crate) boilerplate: Option<usize>,
    /// Of a hundred scenes, how many are of unstable hosts.
    pub(crate) unstable: usize,
    pub(crate) plants: Vec<Plant>,
    pub(crate) rates: Vec<Rate>,
    /// Over how many domains rates are spread.
    pub(crate) domains: usize,
    /// How often each planted URL is fetched.
    pub(crate) fetches: Fetches,
    pub(crate) opening: Opening,
    pub(crate) health: Health,
}

/// What comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Scenes at random.
    Random,
    /// One of each, so that a small archive has them all.
    Tour,
}

/// Whether the archive can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Sound,
    /// The members of the captures `BROKEN` are overwritten in their midst, garbage stands before the captures `AFTER_GARBAGE`, and a
    /// last record is cut.
    Damaged,
}

/// When it is enough. The scene at the limit is played to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    Captures(u64),
    /// Of the output, as stored.
    Bytes(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Warc,
    Cdx,
    Cdxj,
}

/// Where it goes. All but the first may be `io::sink()`.
#[derive(Debug)]
pub(crate) struct Outputs<W, X> {
    pub(crate) archive: W,
    /// An index of the archive.
    pub(crate) cdx: X,
    pub(crate) cdxj: X,
    /// A CSV row for each capture.
    pub(crate) truth: X,
}

/// Makes an archive.
pub(crate) fn generate<W: Write, X: Write>(
    options: &Options,
    outputs: Outputs<W, X>,
) -> io::Result<()> {
    let press = Press::new(options.seed);
    let evidence = match options.format {
        Format::Warc => Evidence::Bodies,
        Format::Cdx | Format::Cdxj => Evidence::Declared,
    };
    let stage = Stage::new(Random::new(options.seed), &press, options.median, evidence);
    let mut script = Script::new(options, stage);
    let mut writer = Writer::new(options, &press, outputs);
    writer.begin()?;
    loop {
        let batch = script.draw(writer.offset);
        if batch.is_empty() {
            return writer.end();
        }
        writer.write(&batch)?;
    }
}

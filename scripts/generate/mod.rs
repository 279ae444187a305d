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
mod text;

use std::collections::VecDeque;
use std::io::{self, Write};

use crawl_dedupe::capture::Timestamp;
use rayon::prelude::*;

use capture::{Capture, Kind, Wholeness};
use plant::{Fetches, Place, Plant, Rate, Verdict};
use random::Random;
use scene::{Evidence, Stage};
use text::Press;

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

/// Captures of a damaged archive that cannot be read, counted from 0.
const BROKEN: [u64; 2] = [5, 14];
/// Captures of a damaged archive that stand behind something that is no record.
const AFTER_GARBAGE: [u64; 1] = [9];

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

/// The columns of the truth.
const TRUTH: &str =
    "ordinal,offset,length,url,timestamp,record_type,url_class,content,page,role,planted\n";

/// Captures that wait to be drawn.
const POOL: usize = 600;
/// Captures written at once.
const BATCH: usize = 256;

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
    let mut writer = Writer {
        options,
        press: &press,
        outputs,
        offset: 0,
        ordinal: 0,
        n_captures: 0,
    };
    writer.begin()?;
    loop {
        let batch = script.draw(writer.offset);
        if batch.is_empty() {
            return writer.end();
        }
        writer.write(&batch)?;
    }
}

/// Decides which scene comes next, and holds the pool.
struct Script<'o> {
    options: &'o Options,
    stage: Stage<'o>,
    plants: VecDeque<Planting<'o>>,
    pool: Vec<Capture>,
    n_captures: u64,
    /// A boilerplate scene comes after so many others.
    n_scenes: usize,
}

/// One pair that is still to be planted.
struct Planting<'o> {
    rule: &'o str,
    domain: String,
    index: usize,
    verdict: Verdict,
}

impl<'o> Script<'o> {
    fn new(options: &'o Options, mut stage: Stage<'o>) -> Self {
        let plants = plantings(options, &mut stage.random);
        Self {
            options,
            stage,
            plants,
            pool: Vec::new(),
            n_captures: 0,
            n_scenes: 0,
        }
    }

    /// The next captures, at random from those that wait; `written` bytes are out already.
    fn draw(&mut self, written: u64) -> Vec<Capture> {
        while self.pool.len() < POOL && !self.is_over(written) {
            let scene = self.next_scene();
            self.n_captures += scene.len() as u64;
            self.n_scenes += 1;
            self.pool.extend(scene);
        }
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH && !self.pool.is_empty() {
            let drawn = self.stage.random.below(self.pool.len());
            batch.push(self.pool.swap_remove(drawn));
        }
        batch
    }

    fn is_over(&self, written: u64) -> bool {
        let is_enough = match self.options.limit {
            Limit::Captures(n) => self.n_captures >= n,
            Limit::Bytes(n) => {
                let n_written = self.n_captures - self.pool.len() as u64;
                let mean = written.checked_div(n_written).unwrap_or(0);
                written + mean * self.pool.len() as u64 >= n
            }
        };
        is_enough && self.plants.is_empty()
    }

    fn next_scene(&mut self) -> Vec<Capture> {
        let stage = &mut self.stage;
        let is_enough = matches!(self.options.limit, Limit::Captures(n) if self.n_captures >= n);
        if self.options.opening == Opening::Tour && self.n_scenes < Stage::N_SCENES {
            return stage.play_nth(self.n_scenes);
        }
        // Plants are spread over the start of the archive, one scene in two.
        let is_planting = !self.plants.is_empty() && (is_enough || stage.random.chance(0.5));
        let planting = match is_planting {
            true => self.plants.pop_front(),
            false => None,
        };
        if let Some(planting) = planting {
            let place = Place {
                domain: &planting.domain,
                index: planting.index,
            };
            let fetches = self.options.fetches;
            return plant::play(stage, planting.rule, place, planting.verdict, fetches);
        }
        if let Some(n_urls) = self
            .options
            .boilerplate
            .filter(|_| self.n_scenes % 500 == 100)
        {
            return scene::boilerplate(stage, n_urls);
        }
        if stage.random.below(100) < self.options.unstable {
            return scene::unstable(stage);
        }
        stage.play()
    }
}

fn plantings<'o>(options: &'o Options, random: &mut Random) -> VecDeque<Planting<'o>> {
    let mut plantings = Vec::new();
    for (rule_index, plant) in options.plants.iter().enumerate() {
        let verdicts = [
            (plant.right, [Verdict::Right; 2]),
            (plant.wrong, [Verdict::Wrong; 2]),
            (plant.unverifiable, [Verdict::Far, Verdict::Unstable]),
        ];
        for (n, kinds) in verdicts {
            for index in 0..n {
                plantings.push(Planting {
                    rule: &plant.rule,
                    domain: format!("plant{rule_index}-{}.example", plantings.len()),
                    index: 0,
                    verdict: kinds[usize::from(index % 2 == 1)],
                });
            }
        }
    }
    for (rule_index, rate) in options.rates.iter().enumerate() {
        for domain in 0..options.domains {
            plantings.extend(on_domain(rate, rule_index, domain, random));
        }
    }
    plantings.into()
}

/// The pairs of one domain, five on average. Half of the domains are all right or all wrong, as rules are on real sites; on the others
/// each pair is by itself. Either way a pair is wrong with the probability of the rate.
fn on_domain<'o>(
    rate: &'o Rate,
    rule_index: usize,
    domain: usize,
    random: &mut Random,
) -> Vec<Planting<'o>> {
    let mut n_pairs = 1;
    while n_pairs < 40 && random.chance(0.8) {
        n_pairs += 1;
    }
    let is_uniform = random.chance(0.5);
    let is_wrong = random.chance(rate.wrong);
    (0..n_pairs)
        .map(|index| {
            let is_wrong = match is_uniform {
                true => is_wrong,
                false => random.chance(rate.wrong),
            };
            Planting {
                rule: &rate.rule,
                domain: format!("rate{rule_index}-{domain}.example"),
                index,
                verdict: if is_wrong {
                    Verdict::Wrong
                } else {
                    Verdict::Right
                },
            }
        })
        .collect()
}

/// Puts captures out, in order, and says what is true of them.
struct Writer<'o, W, X> {
    options: &'o Options,
    press: &'o Press,
    outputs: Outputs<W, X>,
    offset: u64,
    ordinal: u64,
    n_captures: u64,
}

impl<W: Write, X: Write> Writer<'_, W, X> {
    fn begin(&mut self) -> io::Result<()> {
        self.outputs.truth.write_all(TRUTH.as_bytes())?;
        self.outputs.cdx.write_all(index::HEADER.as_bytes())?;
        match self.options.format {
            Format::Warc => {
                let info = record::warcinfo(self.options.storage, &self.options.name);
                self.put(&info)
            }
            Format::Cdx => self.put(index::HEADER.as_bytes()),
            Format::Cdxj => Ok(()),
        }
    }

    fn end(mut self) -> io::Result<()> {
        if self.options.health == Health::Damaged {
            let last = record::warcinfo(self.options.storage, &self.options.name);
            self.put(&last[..last.len() - 40])?;
        }
        self.outputs.archive.flush()?;
        self.outputs.cdx.flush()?;
        self.outputs.cdxj.flush()?;
        self.outputs.truth.flush()
    }

    /// Writes one record or line.
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.outputs.archive.write_all(bytes)?;
        self.offset += bytes.len() as u64;
        self.ordinal += 1;
        Ok(())
    }

    fn write(&mut self, batch: &[Capture]) -> io::Result<()> {
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
        self.put(line.as_bytes())
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
            truth.role.map_or("", capture::Role::name),
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

//! Makes crawl archives of any size with known truth: `cargo run --release --example generate -- --help`.

#[path = "generate/mod.rs"]
mod generate;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use generate::plant::{self, Fetches, Place, Plant, Rate};
use generate::{Format, Health, Limit, Opening, Options, Outputs, Storage};

/// Writes a made-up crawl archive to stdout: the same bytes for the same flags, on every machine
#[derive(Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
struct Flags {
    /// At least so many captures [default: 1000, without --size]
    #[arg(long, value_name = "N", conflicts_with = "size")]
    captures: Option<u64>,

    /// About so many bytes of output: 500k, 200M, 1G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,

    /// Records, or lines of an index without its archive
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "warc")]
    format: OutFormat,

    /// Other seeds make other archives
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Store in gzip members: a record each, or 3,000 lines each [default for warc]
    #[arg(long, conflicts_with = "plain")]
    gzip: bool,

    /// Store as it is [default for cdx and cdxj]
    #[arg(long)]
    plain: bool,

    /// The name that index lines give the archive
    #[arg(long, value_name = "NAME", default_value = "generated.warc.gz")]
    name: String,

    /// Median length of a page in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 20_000)]
    median: u32,

    /// Write what is true of each capture to FILE, as CSV
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,

    /// Write a CDX of the archive to FILE
    #[arg(long, value_name = "FILE")]
    cdx: Option<PathBuf>,

    /// Write a CDXJ of the archive to FILE
    #[arg(long, value_name = "FILE")]
    cdxj: Option<PathBuf>,

    /// Now and then, let N unrelated URLs of a host share one page (51 or more)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(51..))]
    boilerplate: Option<u16>,

    /// Of a hundred scenes, so many of hosts whose pages differ at each fetch
    #[arg(long, value_name = "PERCENT", default_value_t = 0)]
    unstable: u8,

    /// Plant pairs that RULE (name=option) makes one: of the same page, of two pages, and of two pages that nothing can be said about
    #[arg(long, value_name = "RULE=RIGHT,WRONG[,UNVERIFIABLE]", value_parser = plant)]
    plant: Vec<Plant>,

    /// The same, with all pairs on one host
    #[arg(long, value_name = "HOST:RULE=RIGHT,WRONG[,UNVERIFIABLE]", value_parser = host_plant)]
    plant_host: Vec<Plant>,

    /// Plant pairs on --domains domains that are of two pages with probability P
    #[arg(long, value_name = "RULE=P", value_parser = rate)]
    plant_rate: Vec<Rate>,

    /// Domains for --plant-rate
    #[arg(long, value_name = "N", default_value_t = 300)]
    domains: usize,

    /// Begin with one scene of each sort
    #[arg(long)]
    tour: bool,

    /// Damage two captures, put garbage before a third, and end with a cut record
    #[arg(long)]
    damage: bool,

    /// Fetch each planted URL twice
    #[arg(long)]
    plant_twice: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OutFormat {
    Warc,
    Cdx,
    Cdxj,
}

fn main() -> ExitCode {
    match run(Flags::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "generate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: Flags) -> io::Result<()> {
    let outputs = Outputs {
        archive: BufWriter::with_capacity(1 << 20, io::stdout().lock()),
        cdx: file_or_nothing(flags.cdx)?,
        cdxj: file_or_nothing(flags.cdxj)?,
        truth: file_or_nothing(flags.truth)?,
    };
    let options = Options {
        seed: flags.seed,
        limit: match flags.size {
            Some(bytes) => Limit::Bytes(bytes),
            None => Limit::Captures(flags.captures.unwrap_or(1_000)),
        },
        format: match flags.format {
            OutFormat::Warc => Format::Warc,
            OutFormat::Cdx => Format::Cdx,
            OutFormat::Cdxj => Format::Cdxj,
        },
        storage: match flags.format {
            _ if flags.plain => Storage::Plain,
            OutFormat::Cdx | OutFormat::Cdxj if !flags.gzip => Storage::Plain,
            _ => Storage::Gzip,
        },
        name: flags.name,
        median: flags.median,
        boilerplate: flags.boilerplate.map(usize::from),
        unstable: flags.unstable.into(),
        plants: [flags.plant, flags.plant_host].concat(),
        rates: flags.plant_rate,
        domains: flags.domains,
        opening: if flags.tour {
            Opening::Tour
        } else {
            Opening::Random
        },
        health: if flags.damage {
            Health::Damaged
        } else {
            Health::Sound
        },
        fetches: if flags.plant_twice {
            Fetches::Twice
        } else {
            Fetches::Once
        },
    };
    generate::generate(&options, outputs)
}

fn file_or_nothing(path: Option<PathBuf>) -> io::Result<Box<dyn Write>> {
    Ok(match path {
        Some(path) => Box::new(BufWriter::new(File::create(path)?)),
        None => Box::new(io::sink()),
    })
}

fn size(text: &str) -> Result<u64, String> {
    let split = text.find(|letter: char| !letter.is_ascii_digit());
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        _ => return Err("a size is a number and k, M or G".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "no number".to_owned())?;
    number
        .checked_mul(factor)
        .ok_or_else(|| "too large".to_owned())
}

/// Cuts `name=option=REST` at the last `=`.
fn rule_and_rest(text: &str) -> Result<(String, &str), String> {
    let (rule, rest) = text.rsplit_once('=').ok_or("no = in it")?;
    let place = Place {
        domain: "example",
        index: 0,
    };
    match plant::pair(rule, place) {
        Some(_) => Ok((rule.to_owned(), rest)),
        None => Err(format!("no such rule: {rule}")),
    }
}

fn plant(text: &str) -> Result<Plant, String> {
    let (rule, rest) = rule_and_rest(text)?;
    let counts: Vec<u64> = rest
        .split(',')
        .map(|count| count.parse().map_err(|_| format!("no number: {count}")))
        .collect::<Result<_, _>>()?;
    match counts.as_slice() {
        [right, wrong] | [right, wrong, _] => Ok(Plant {
            host: None,
            rule,
            right: *right,
            wrong: *wrong,
            unverifiable: counts.get(2).copied().unwrap_or(0),
        }),
        _ => Err("two or three numbers".to_owned()),
    }
}

fn host_plant(text: &str) -> Result<Plant, String> {
    let (host, rest) = text.split_once(':').ok_or("no host in front of a :")?;
    Ok(Plant {
        host: Some(host.to_owned()),
        ..plant(rest)?
    })
}

fn rate(text: &str) -> Result<Rate, String> {
    let (rule, rest) = rule_and_rest(text)?;
    let wrong: f64 = rest.parse().map_err(|_| format!("no number: {rest}"))?;
    if (0.0..=1.0).contains(&wrong) {
        Ok(Rate { rule, wrong })
    } else {
        Err("a probability is from 0 to 1".to_owned())
    }
}

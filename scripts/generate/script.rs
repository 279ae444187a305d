//! The order of the play: which scene comes next, and which of the waiting captures.

use std::collections::VecDeque;

use super::capture::Capture;
use super::plant::{self, Place, Rate, Verdict};
use super::random::Random;
use super::scene;
use super::stage::Stage;
use super::{Limit, Opening, Options};

/// Captures that wait to be drawn.
const POOL: usize = 600;
/// Captures written at once.
const BATCH: usize = 256;

/// Decides which scene comes next, and holds the pool.
pub(crate) struct Script<'o> {
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
    pub(crate) fn new(options: &'o Options, mut stage: Stage<'o>) -> Self {
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
    pub(crate) fn draw(&mut self, written: u64) -> Vec<Capture> {
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
                let n_before = plantings.len();
                let (domain, index_there) = match &plant.host {
                    Some(host) => (host.clone(), n_before),
                    None => (format!("plant{rule_index}-{n_before}.example"), 0),
                };
                plantings.push(Planting {
                    rule: &plant.rule,
                    domain,
                    index: index_there,
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

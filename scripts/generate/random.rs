//! Random numbers that are the same on every machine: integers and plain arithmetic only.

/// SplitMix64 (Steele, Lea and Flood, 2014): one addition and three mixes a number.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// An independent source for the part `part` of what `seed` makes.
    pub(crate) fn of_part(seed: u64, part: u64) -> Self {
        let mut source = Self(seed ^ part.wrapping_mul(0xd1b5_4a32_d192_ed03));
        source.next();
        source
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let wide = u128::from(self.next()) * limit as u128;
        usize::try_from(wide >> 64).expect("it is below a usize")
    }

    /// From 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are what a double has")]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Lognormal with this median and a sigma of 0.9. The normal is twelve uniforms less six, the power a square-and-multiply
    /// over powers of two: a library's `exp` may differ in the last bit from machine to machine.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a length, bounded above and below"
    )]
    pub(crate) fn lognormal(&mut self, median: u32) -> u32 {
        let normal: f64 = (0..12).map(|_| self.unit()).sum::<f64>() - 6.0;
        let exponent = normal * 0.9 * std::f64::consts::LOG2_E;
        let mut power = 1.0;
        let mut rest = exponent.abs();
        while rest >= 1.0 {
            power *= 2.0;
            rest -= 1.0;
        }
        let mut root = std::f64::consts::SQRT_2;
        let mut bit = 0.5;
        for _ in 0..8 {
            if rest >= bit {
                power *= root;
                rest -= bit;
            }
            root = root.sqrt();
            bit /= 2.0;
        }
        let factor = if exponent < 0.0 { 1.0 / power } else { power };
        (f64::from(median) * factor).clamp(200.0, 4_000_000.0) as u32
    }
}

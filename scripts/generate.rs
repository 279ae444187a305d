//! Generator of crawl archives with known truth.

fn main() {}

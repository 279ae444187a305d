//! The bets, in the order of the policy specification: what depends on the server, and never runs
//! unless a policy names it.
//!
//! One file per component. A bet takes what the core has written and writes what it becomes; a
//! driver runs them in order, then the core, until nothing changes. Must never run the core itself.

pub(crate) mod authority;
pub(crate) mod components;

mod escapes;
mod names;
mod path;
mod query;
mod unicode;

use crate::policy::plan::{Base, Bets};
use crate::policy::{Rule, RuleSet};
use crate::uri::core::cut;
use crate::uri::query::is_signed;
use crate::uri::table::{PATH, QUERY, SPECIAL_QUERY};

use components::{Components, Mark};
use query::Order;
use unicode::Case;

/// The bets in force for a URL, and what they need to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice<'p> {
    /// Those that run.
    pub(crate) rules: RuleSet,
    /// The lists they read.
    pub(crate) lists: &'p Bets,
    /// The base they run on: it decides how a query is escaped.
    pub(crate) base: Base,
}

/// Buffers that bets write to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    out: Vec<u8>,
    second: Vec<u8>,
    order: Order,
}

const WWW: RuleSet = RuleSet::of(&[Rule::WwwWww, Rule::WwwNumbered, Rule::WwwMobile]);

impl Choice<'_> {
    /// Runs the bets of the choice once, in policy order, and says which changed something.
    pub(crate) fn run(&self, url: &mut Components, work: &mut Work) -> RuleSet {
        let mut fired = RuleSet::EMPTY;
        let rules = self.rules.intersection(RuleSet::bets());
        for rule in rules.iter() {
            if rule == Rule::EscapesDecodeRepeated {
                if self.decode_repeated(url, work) {
                    fired.insert(rule);
                }
                continue;
            }
            let changed = match rule {
                Rule::SchemeMerge => authority::merge_scheme(url),
                Rule::UserinfoDrop => authority::drop_userinfo(url),
                Rule::HostTrailingDotDrop => authority::drop_trailing_dot(&mut url.host),
                Rule::IndexFileDefault | Rule::IndexFileList => {
                    self.drop_index(rule, url, work, &mut fired)
                }
                _ => false,
            };
            if WWW.contains(rule) {
                authority::drop_www(&mut url.host, self.rules, &mut fired);
            }
            if changed | self.run_on_path(rule, url, work) | self.run_on_query(rule, url, work) {
                fired.insert(rule);
            }
        }
        fired
    }

    fn drop_index(
        &self,
        rule: Rule,
        url: &mut Components,
        work: &mut Work,
        fired: &mut RuleSet,
    ) -> bool {
        let (path, out) = (&url.path, &mut work.out);
        out.clear();
        let between = if rule == Rule::IndexFileDefault {
            path::drop_default_index(path, self, out)
        } else {
            path::drop_listed_index(path, self, out)
        };
        if between == path::Between::Slashes {
            fired.insert(Rule::TrailingSlashDrop);
        }
        let changed = *out != url.path;
        std::mem::swap(out, &mut url.path);
        changed
    }

    fn run_on_path(&self, rule: Rule, url: &mut Components, work: &mut Work) -> bool {
        let (path, out) = (&url.path, &mut work.out);
        out.clear();
        match rule {
            Rule::UnicodeNfc => unicode::compose(path, Case::Kept, &mut work.second, out),
            Rule::PathSessionDrop => path::drop_sessions(path, out),
            Rule::SlashCollapse => path::collapse_slashes(path, out),
            Rule::TrailingSlashDrop => path::drop_trailing_slash(path, out),
            Rule::TrailingSlashAdd => path::add_trailing_slash(path, out),
            Rule::PathCaseLower => self.lower(path, &mut work.second, out),
            Rule::LeadingZerosDrop => path::drop_zeros(path, out),
            Rule::EscapesEncodeGrey => escapes::encode_grey(path, out),
            Rule::EscapesDecodeSubDelims => escapes::decode_sub_delims(path, PATH, out),
            Rule::EscapesDecodeReserved => escapes::decode_reserved(path, PATH, out),
            Rule::ExtensionDrop => path::drop_extension(path, self, out),
            _ => return false,
        }
        let changed = *out != url.path;
        std::mem::swap(out, &mut url.path);
        changed
    }

    /// A bet on the query fires neither on a signed URL nor where it would make one.
    fn run_on_query(&self, rule: Rule, url: &mut Components, work: &mut Work) -> bool {
        if url.mark == Mark::Absent || url.is_signed {
            return false;
        }
        work.out.clear();
        let Some(mark) = self.write_query(rule, &url.query, work) else {
            return false;
        };
        let changed = mark == Mark::Absent || work.out != url.query;
        if changed && is_signed(&work.out) {
            return false;
        }
        std::mem::swap(&mut work.out, &mut url.query);
        url.mark = mark;
        changed
    }

    /// Writes what the bet makes of a query; `None` if it is none on queries.
    fn write_query(&self, rule: Rule, query: &[u8], work: &mut Work) -> Option<Mark> {
        let out = &mut work.out;
        match rule {
            Rule::UnicodeNfc => unicode::compose(query, Case::Kept, &mut work.second, out),
            Rule::AmpEntityDecode => query::decode_amp(query, out),
            Rule::LeadingZerosDrop => query::drop_zeros(query, out),
            Rule::QueryDropList => {
                return Some(query::drop_listed(query, &self.lists.query_drop, self, out));
            }
            Rule::QueryDropTracking => return Some(query::drop_tracking(query, self, out)),
            Rule::QueryDropFile => {
                return Some(query::drop_listed(
                    query,
                    &self.lists.query_drop_file,
                    self,
                    out,
                ));
            }
            Rule::QuerySessionDrop => return Some(query::drop_sessions(query, out)),
            // `/?` is `/` (RFC 3986 §6.2.3 keeps it). Merges wrongly: `/?` and `/` of a server that lists
            // with a query. Not merged: `/?&` and `/`.
            Rule::QueryEmptyMark => {
                out.extend_from_slice(query);
                return Some(if query.is_empty() {
                    Mark::Absent
                } else {
                    Mark::Present
                });
            }
            Rule::QueryEmptyParams => query::drop_empty(query, out),
            Rule::QueryEmptyValue => query::add_value(query, out),
            Rule::QueryPlusSpace => query::space_plus(query, out),
            Rule::QueryOrderSortStable => work.order.sort_stable(query, out),
            Rule::QueryOrderSortFull => work.order.sort_full(query, out),
            Rule::QueryOrderDedupe => work.order.dedupe(query, out),
            Rule::QueryCaseLower => self.lower(query, &mut work.second, out),
            // `/a?b=1` is `/a`. Merges wrongly: `/?id=1` and `/?id=2`. Not merged: `/a%3Fb` and `/a`.
            Rule::QueryAllDrop => return Some(Mark::Absent),
            Rule::EscapesEncodeGrey => escapes::encode_grey(query, out),
            Rule::EscapesDecodeSubDelims => {
                escapes::decode_sub_delims(query, self.query_table(), out);
            }
            Rule::EscapesDecodeReserved => escapes::decode_reserved(query, self.query_table(), out),
            Rule::LanguageParamDrop => return Some(query::drop_language(query, self, out)),
            _ => return None,
        }
        Some(Mark::Present)
    }

    /// On path and query together: what comes out is parsed anew, and may sign the URL.
    fn decode_repeated(&self, url: &mut Components, work: &mut Work) -> bool {
        if url.is_signed {
            return false;
        }
        work.out.clear();
        escapes::decode_repeated(&url.path, PATH, &mut work.second, &mut work.out);
        let path_len = work.out.len();
        if url.mark == Mark::Present {
            work.out.push(b'?');
            escapes::decode_repeated(
                &url.query,
                self.query_table(),
                &mut work.second,
                &mut work.out,
            );
        }
        let (text, _fragment) = cut(&work.out, b'#');
        if cut(text, b'?').1.is_some_and(is_signed) {
            return false;
        }
        let changed = work.out[..path_len] != url.path
            || (url.mark == Mark::Present && work.out[path_len + 1..] != url.query);
        if changed {
            let (path, query) = cut(text, b'?');
            url.path.clear();
            url.path.extend_from_slice(path);
            url.query.clear();
            url.query.extend_from_slice(query.unwrap_or_default());
            url.mark = match query {
                Some(_) => Mark::Present,
                None => Mark::Absent,
            };
        }
        changed
    }

    fn lower(&self, component: &[u8], run: &mut Vec<u8>, out: &mut Vec<u8>) {
        if self.rules.contains(Rule::UnicodeNfc) {
            unicode::compose(component, Case::Lower, run, out);
        } else {
            path::lower(component, out);
        }
    }

    fn query_table(&self) -> u8 {
        match self.base {
            Base::Browser => SPECIAL_QUERY,
            Base::Grammar | Base::Parity(_) => QUERY,
        }
    }
}

//! Mapped inputs in which texts of captures stand, so that these need not be stored again.

use std::sync::Arc;

use crate::Result;
use crate::capture::FileId;
use crate::source::Map;

/// Some inputs by their number, each once, in order.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    maps: Vec<(FileId, Arc<Map>)>,
}

impl Inputs {
    /// One input.
    #[must_use]
    pub fn one(file: FileId, map: Arc<Map>) -> Self {
        Self {
            maps: vec![(file, map)],
        }
    }

    /// The bytes of an input; none of one that is not among these.
    pub(super) fn of(&self, file: FileId) -> &[u8] {
        match self.maps.as_slice() {
            [] => &[],
            [(only, map)] if *only == file => map,
            maps => {
                let place = maps.binary_search_by_key(&file, |(file, _)| *file);
                place.map_or(&[], |place| &maps[place].1)
            }
        }
    }

    /// Adds inputs that come later, or are among these.
    pub(super) fn append(&mut self, later: Self) {
        for (file, map) in later.maps {
            if self.maps.last().is_none_or(|(last, _)| *last < file) {
                self.maps.push((file, map));
            }
        }
    }

    /// Tells whether all of them still are what was read.
    ///
    /// # Errors
    /// One was cut, written to, or replaced since it was mapped.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        self.maps
            .iter()
            .try_for_each(|(_, map)| map.check_unchanged())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{
        Capture, Completeness, DigestStatus, Locator, Method, Payload, RecordType, RefersTo,
        Timestamp,
    };
    use crate::catalog::{Batch, Catalog, Keys, RowFlags, RowId, Target};
    use crate::key::{ComparisonKey, Kind};

    const KEYS: Keys<'_> = Keys {
        url: ComparisonKey { key: 1, check: 2 },
        kind: Kind::Http,
        flags: RowFlags::VERBATIM,
        target: Target::None,
        redirect_to: b"",
        refers_to: None,
    };

    fn map(bytes: &[u8]) -> (tempfile::NamedTempFile, Arc<Map>) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let map = Map::open(file.path()).unwrap();
        (file, Arc::new(map))
    }

    /// A capture whose fields stand in `line`, one behind the other and back again.
    fn capture(line: &[u8], file: FileId) -> Capture<'_> {
        Capture {
            locator: Locator {
                file,
                ordinal: 0,
                offset: 0,
                length: Some(7),
            },
            record_type: RecordType::Response,
            target_uri: &line[10..30],
            record_id: b"elsewhere",
            date: Timestamp::UNKNOWN,
            method: Method::GET,
            status: Some(200),
            has_http_head: true,
            mime: &line[2..9],
            language: b"",
            location: b"",
            is_hsts: false,
            payload: Payload {
                bytes: None,
                digest: None,
                body_hash: None,
                text: None,
                decoded: None,
                decodes_to_nothing: false,
                is_undecodable: false,
                declared_text: &line[30..34],
                declared: None,
                status: DigestStatus::Uncheckable,
                completeness: Completeness::Complete,
            },
            truncated: b"",
            refers_to: RefersTo::default(),
            profile: b"",
            shares_member: false,
            stated_file: &line[40..],
            is_index_line: true,
        }
    }

    #[test]
    fn texts_are_the_same_wherever_they_stand() {
        let lines = [
            b"0123456789http://example.org/abcdefghijklmnopqrst".as_slice(),
            b"the other one: http://example.com/, and another file's name",
        ];
        let maps = lines.map(map);
        let mut referring = Catalog::new(vec![Vec::new(); 3]);
        let mut storing = Catalog::new(vec![Vec::new(); 3]);
        for (file, (_, map)) in [FileId(0), FileId(2)].into_iter().zip(&maps) {
            let inputs = [Inputs::one(file, Arc::clone(map)), Inputs::default()];
            for (catalog, inputs) in [&mut referring, &mut storing].into_iter().zip(inputs) {
                let mut batch = Batch::over(inputs);
                batch.push(&capture(map, file), &KEYS);
                batch.push(&capture(map, file), &KEYS);
                batch.move_ordinals(5);
                catalog.append(batch);
            }
        }
        let all = |catalog: &Catalog| -> Vec<String> {
            let rows = (0..4).map(RowId);
            rows.map(|row| format!("{:?} {:?}", catalog.capture(row), catalog.locator(row)))
                .collect()
        };
        assert_eq!(all(&referring), all(&storing));
        assert_eq!(referring.capture(RowId(3)).target_uri, &lines[1][10..30]);
        assert_eq!(referring.locator(RowId(0)).ordinal, 5);
        assert!(referring.spool.len() * 3 < storing.spool.len() * 2);
    }

    #[test]
    fn the_text_of_a_mapped_line_takes_26_bytes() {
        let line = b"com,example)/ 20240501000000 http://www.example.org/a/path/that/is/as/long/as/most.html \
            text/html 200 ZJTWZUVPZJI7RJE47IEP2O2NBWJ2MYVQ - - 12000 700000000 \
            crawl-2024-18-20240501000000-00000-crawler1.example.org.warc.gz";
        let column = |nth: usize| line.split(|byte| *byte == b' ').nth(nth).unwrap();
        let place = |part: &[u8]| part.as_ptr().addr() - line.as_ptr().addr();
        let n_before = 5 << 20;
        let (_file, map) = map(&[&vec![b'\n'; n_before], line.as_slice()].concat());
        let mapped = |nth: usize| {
            let start = n_before + place(column(nth));
            &map[start..start + column(nth).len()]
        };
        let mut found = capture(&map, FileId(0));
        found.locator.ordinal = 11_000_000;
        found.locator.offset = 700_000_000;
        found.locator.length = Some(12_000);
        found.target_uri = mapped(2);
        found.record_id = b"";
        found.mime = mapped(3);
        found.payload.declared_text = mapped(5);
        found.stated_file = mapped(10);
        let mut batch = Batch::over(Inputs::one(FileId(0), Arc::clone(&map)));
        batch.push(&found, &KEYS);
        // Beyond 134 MB of its input a line has a byte more, beyond 17 GB two.
        assert_eq!(batch.spool.len(), 26);
    }

    #[test]
    fn notices_that_an_input_changed() {
        let (file, map) = map(b"0123456789http://example.org/abcdefghijklmnopqrst");
        let mut catalog = Catalog::new(vec![Vec::new()]);
        catalog.append(Batch::over(Inputs::one(FileId(0), map)));
        assert!(catalog.check_unchanged().is_ok());
        std::fs::write(file.path(), b"shorter").unwrap();
        assert!(catalog.check_unchanged().is_err());
    }
}

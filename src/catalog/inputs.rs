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

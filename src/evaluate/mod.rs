//! Contract pending.

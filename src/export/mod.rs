//! Archives of the harvest.

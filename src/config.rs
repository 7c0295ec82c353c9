//! gleaner.toml: as written → validated.

//! Site rule files: which URLs of a site are fetched, and as what.

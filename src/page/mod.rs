//! Pages: links, encoded links, pagination.

//! The bundled demo site.

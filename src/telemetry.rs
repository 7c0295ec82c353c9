//! Log set-up and the one place that names log fields.

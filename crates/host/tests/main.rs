//! Tests of a host's network around its teams.

//! Experiment files: what they say, and what is wrong with them.

mod changed;
mod corpus;
mod experiment;
mod experiment_bad;
mod experiment_chaos;
mod experiment_docs;
mod experiment_drawings;
mod experiment_events;
mod experiment_gateways;
mod experiment_guests;
mod experiment_in_use;
mod experiment_overrides;
mod experiment_predict;
mod experiment_remote;
mod experiment_shipped;
mod experiment_storage;
mod experiment_switches;
mod experiment_targets;
mod limit;
mod patterns;
mod repeat;

//! Makers' switches, as a file names them: what each can be told, in its maker's words, and what is known of how it
//! chooses a group's link. One file a maker, and one line a model in [`MODELS`].
//!
//! What a model stands for is the switching of link aggregation groups alone: the policies it offers, the values its
//! hash has, its limits. `docs/switches.md` has the sources, and what is assumed.

mod cisco;
mod h3c;
mod model;
mod procurve;

pub use model::{Spread, SwitchModel};

/// All models, in the order of the reference.
const MODELS: [&SwitchModel; 4] = [&cisco::CATALYST_2960S, &cisco::CATALYST_3560G, &h3c::H3C, &procurve::PROCURVE_2824];

/// Their names.
pub const NAMES: [&str; MODELS.len()] =
    [cisco::CATALYST_2960S.name, cisco::CATALYST_3560G.name, h3c::H3C.name, procurve::PROCURVE_2824.name];

/// The model of this name.
pub fn find(name: &str) -> Option<&'static SwitchModel> {
    MODELS.into_iter().find(|model| model.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use nicteam_team::Config;

    use super::*;

    #[test]
    fn each_model_can_be_run_as_it_says() {
        for (model, name) in MODELS.into_iter().zip(NAMES) {
            assert_eq!((model.name, find(name)), (name, Some(model)));
            let words: BTreeSet<&str> = model.spreads.iter().map(|spread| spread.word).collect();
            assert_eq!(words.len(), model.spreads.len(), "{name}: a word twice");
            assert!(model.spread(model.default_spread().word).is_some() && model.spread("round-robin").is_none());
            for spread in model.spreads {
                let mut config = Config::default();
                config.set("mode", "balance-xor").unwrap();
                config.set("xmit_hash_policy", spread.policy.name()).unwrap();
                config.set("hash_buckets", &model.hash_buckets.to_string()).unwrap();
                config.check().unwrap();
                assert_eq!(config.xmit_hash_policy, spread.policy);
            }
            assert!((2..=nicteam_team::MAX_MEMBERS).contains(&model.most_links));
            assert!(!model.assumed.is_empty(), "{name}: no maker publishes the whole hash");
        }
    }

    #[test]
    fn the_documentation_names_each_model_word_and_limit() {
        let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/switches.md")).unwrap();
        for model in MODELS {
            let section = docs.split("\n## ").find(|section| section.contains(&format!("`{}`", model.name)));
            let section = section.unwrap_or_else(|| panic!("docs/switches.md has no `{}`", model.name));
            for spread in model.spreads {
                assert!(section.contains(&format!("`{}`", spread.word)), "{}: `{}`", model.name, spread.word);
            }
            let links = format!("at most {} links", model.most_links);
            assert!(section.contains(&links), "{}: {links}", model.name);
            assert!(section.contains("Assumed"), "{}", model.name);
        }
    }
}

//! The causes that an experiment file may name are those of the rules.

use nicteam_expect::CAUSES;
use nicteam_report::RULES;

#[test]
fn an_expectation_can_name_each_cause() {
    let mut causes: Vec<&str> = RULES.iter().map(|rule| rule.cause()).collect();
    causes.sort_unstable();
    assert_eq!(causes, CAUSES);
}

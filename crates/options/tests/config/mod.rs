//! Options by name: what the kernel takes is taken, the rest is refused with a reason.

mod drawn;
mod openvswitch;

use nicteam_lacp::{AdSelect, LacpRate};
use nicteam_options::{
    ActiveSlave, AggrLayers, ArpMonitoring, ArpValidate, Config, ConfigError, ConfigOption, HashPolicy, Mode,
    PrimaryReselect, Values,
};

fn with(options: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    for (name, value) in options {
        config.set(name, value).unwrap();
    }
    config
}

#[test]
fn names_numbers_and_default_are_taken() {
    for (text, mode) in [
        ("balance-rr", Mode::BalanceRr),
        ("0", Mode::BalanceRr),
        (" active-backup\n", Mode::ActiveBackup),
        ("1", Mode::ActiveBackup),
        ("2", Mode::BalanceXor),
        ("3", Mode::Broadcast),
        ("5", Mode::BalanceTlb),
        ("balance-alb", Mode::BalanceAlb),
        ("4", Mode::Ad),
        ("802.3ad", Mode::Ad),
        ("default", Mode::BalanceRr),
    ] {
        assert_eq!(text.parse(), Ok(mode), "{text}");
    }
    // The kernel's numbers are not in the order of the names.
    assert_eq!("1".parse(), Ok(HashPolicy::Layer34));
    assert_eq!("2".parse(), Ok(HashPolicy::Layer23));
    assert_eq!("3".parse(), Ok(HashPolicy::Encap23));
    assert_eq!("4".parse(), Ok(HashPolicy::Encap34));
    assert_eq!("5".parse(), Ok(HashPolicy::VlanSrcMac));
    assert_eq!("src-dst-port".parse(), Ok(HashPolicy::SrcDstPort));
    assert_eq!("2".parse(), Ok(PrimaryReselect::Failure));
}

#[test]
fn aggr_layers_are_taken_as_dladm_takes_them() {
    let layers = |text: &str| match text.parse() {
        Ok(HashPolicy::Aggr(layers)) => Some(layers),
        _ => None,
    };
    assert_eq!(layers("l2"), Some(AggrLayers::L2));
    for text in ["L2,L3", "l3,l2", "L3,l2,L3", " L2,L3\n"] {
        assert_eq!(layers(text), Some(AggrLayers::L2.and(AggrLayers::L3)), "{text}");
        assert_eq!(text.parse::<HashPolicy>().unwrap().to_string(), "L2,L3");
    }
    for text in ["", ",", "L2,", "L1", "L2 L3", "L23"] {
        assert_eq!(layers(text), None, "{text}");
        assert_eq!(text.parse::<AggrLayers>().ok(), None, "{text}");
    }
    for layers in AggrLayers::ALL {
        assert_eq!(layers.name().parse(), Ok(layers));
    }
    let refused = "L9".parse::<HashPolicy>().unwrap_err().to_string();
    assert!(refused.contains("vlan+srcmac") && refused.contains("`L2,L3`"), "{refused}");
}

#[test]
fn every_name_parses_back() {
    for mode in Mode::ALL {
        assert_eq!(mode.to_string().parse(), Ok(mode));
        if let Some(number) = mode.number() {
            assert_eq!(number.to_string().parse(), Ok(mode));
        }
    }
    for policy in HashPolicy::ALL {
        assert_eq!(policy.to_string().parse(), Ok(policy));
        if let Some(number) = policy.number() {
            assert_eq!(number.to_string().parse(), Ok(policy));
        }
    }
    for choice in PrimaryReselect::ALL {
        assert_eq!(choice.to_string().parse(), Ok(choice));
        assert_eq!(choice.number().to_string().parse(), Ok(choice));
    }
}

#[test]
fn both_names_of_the_notifications_are_one_value() {
    let config = with(&[("num_grat_arp", "7"), ("num_unsol_na", "3")]);
    assert_eq!(config.num_grat_arp, 3);
    let options = config.options();
    assert!(options.contains(&("num_grat_arp", "3".to_owned())) && options.contains(&("num_unsol_na", "3".to_owned())));
}

#[test]
fn ranges_are_the_kernels() {
    for (name, largest) in [
        ("miimon", 2_147_483_647_u32),
        ("updelay", 2_147_483_647),
        ("downdelay", 2_147_483_647),
        ("min_links", 2_147_483_647),
        ("packets_per_slave", 65_535),
        ("num_grat_arp", 255),
        ("peer_notif_delay", 300_000),
    ] {
        let mut config = Config::default();
        config.set(name, &largest.to_string()).unwrap();
        config.set(name, "maxval").unwrap();
        config.set(name, "0").unwrap();
        for bad in [(largest + 1).to_string(), "99999999999999999999".into(), "-1".into(), "+1".into(), "1 2".into()] {
            let error = config.set(name, &bad).unwrap_err();
            assert!(matches!(&error, ConfigError::BadValue { option, .. } if *option == name), "{name} {bad}: {error}");
            assert!(error.to_string().contains(&format!("0 to {largest}")), "{error}");
        }
    }
}

#[test]
fn learning_packets_need_an_interval() {
    let error = Config::default().set("lp_interval", "0").unwrap_err();
    assert!(error.to_string().contains("1 to 2147483647"), "{error}");
    assert_eq!(with(&[("lp_interval", "maxval")]).lp_interval_s, 2_147_483_647);
    let config = with(&[("lp_interval", "default"), ("tlb_dynamic_lb", "off")]);
    assert_eq!((config.lp_interval_s, config.tlb_dynamic_lb), (1, false));
}

#[test]
fn lacp_takes_the_kernels_words_and_illumos_s() {
    let lacp = |name: &str, value: &str| with(&[("mode", "802.3ad"), (name, value)]).lacp;
    for (value, rate) in
        [("fast", LacpRate::Fast), ("1", LacpRate::Fast), ("short", LacpRate::Fast), ("long", LacpRate::Slow)]
    {
        assert_eq!(lacp("lacp_rate", value).rate, rate, "{value}");
    }
    for (value, active) in [("on", true), ("0", false), ("passive", false), ("active", true), ("default", true)] {
        assert_eq!(lacp("lacp_active", value).active, active, "{value}");
    }
    assert_eq!(lacp("ad_select", "3").select, AdSelect::ActorPortPrio);
    assert!(!lacp("lacp_strict", "default").strict);
    assert_eq!(lacp("ad_actor_system", "00:00:00:00:00:00").actor_system, None);
    let config = with(&[("actor_port_prio", "eth1:7, eth0:255 eth2:0")]);
    assert_eq!(["eth0", "eth1", "eth2"].map(|device| config.port_prio(device)), [255, 7, 0]);
    for (name, bad) in [
        ("ad_actor_sys_prio", "0"),
        ("ad_actor_sys_prio", "65536"),
        ("ad_user_port_key", "1024"),
        ("ad_actor_system", "01:00:00:00:00:01"),
        ("actor_port_prio", "eth0"),
        ("actor_port_prio", "eth0:65536"),
        ("actor_port_prio", ":1"),
        ("lacp_rate", "2"),
        ("coupled_control", "yes"),
    ] {
        let error = Config::default().set(name, bad).unwrap_err();
        assert!(matches!(&error, ConfigError::BadValue { option, .. } if *option == name), "{name} {bad}: {error}");
    }
}

#[test]
fn the_mode_needs_a_link_monitor_and_switches_it_on() {
    assert_eq!(with(&[("miimon", "0"), ("mode", "802.3ad")]).miimon_ms, 100);
    assert_eq!(with(&[("miimon", "50"), ("mode", "802.3ad")]).miimon_ms, 50);
}

#[test]
fn a_refused_value_changes_nothing() {
    let mut config = with(&[("miimon", "50"), ("primary", "eth0")]);
    let before = config.clone();
    for (name, value) in [("miimon", "x"), ("primary", "a/b"), ("mode", "rr"), ("no_such_option", "1")] {
        config.set(name, value).unwrap_err();
        assert_eq!(config, before);
    }
}

#[test]
fn primary_is_a_device_name_or_nothing() {
    assert_eq!(with(&[("primary", "eth0.100")]).primary.as_deref(), Some("eth0.100"));
    assert_eq!(with(&[("primary", "eth0"), ("primary", "")]).primary, None);
    for bad in ["sixteen-bytes-xx", "a b", "a:b", "..", "a/b"] {
        assert!(Config::default().set("primary", bad).is_err(), "{bad}");
    }
}

#[test]
fn errors_say_what_was_meant() {
    let hint = |name: &str, value: &str| Config::default().set(name, value).unwrap_err().hint();
    assert_eq!(hint("mimon", "1").unwrap(), "did you mean `miimon`?");
    assert_eq!(hint("xmit-hash-polcy", "1").unwrap(), "did you mean `xmit_hash_policy`?");
    assert_eq!(Config::default().set("xmit-hash-policy", "1"), Ok(()), "dashes are Open vSwitch's way");
    assert!(hint("colour", "1").unwrap().contains("packets_per_slave"));
    assert_eq!(hint("mode", "active-bakup").unwrap(), "did you mean `active-backup`?");
    assert_eq!(hint("mode", "Balance_RR").unwrap(), "did you mean `balance-rr`?");
    assert_eq!(hint("miimon", "x"), None);
    assert!(hint(&"m".repeat(10_000), "1").is_some());
}

#[test]
fn intel_s_names_are_the_kernel_s_modes() {
    for (names, mode) in [
        (&["AFT", "SFT", "aft"][..], Mode::ActiveBackup),
        (&["ALB", "RLB"], Mode::BalanceAlb),
        (&["SLA", " sla "], Mode::BalanceXor),
    ] {
        for name in names {
            assert_eq!(name.parse(), Ok(mode), "{name}");
        }
    }
    assert!("ALBA".parse::<Mode>().is_err());
}

#[test]
fn what_the_kernel_refuses_together_is_a_conflict() {
    for options in [
        &[("miimon", "0"), ("updelay", "100")][..],
        &[("miimon", "0"), ("downdelay", "100")],
        &[("miimon", "0"), ("peer_notif_delay", "100")],
        &[("mode", "balance-xor"), ("packets_per_slave", "2")],
        &[("mode", "balance-rr"), ("primary", "eth0")],
        &[("mode", "active-backup"), ("tlb_dynamic_lb", "off")],
        &[("mode", "802.3ad"), ("miimon", "0")],
        &[("mode", "balance-xor"), ("lacp_rate", "fast")],
        &[("mode", "active-backup"), ("aggregate_wait", "0")],
        &[("mode", "balance-rr"), ("ad_actor_system", "02:00:00:00:00:01")],
        &[("mode", "broadcast"), ("actor_port_prio", "eth0:1")],
        &[("mode", "balance-tlb"), ("hash_buckets", "8")],
    ] {
        let error = with(options).check().unwrap_err();
        assert!(matches!(error, ConfigError::Conflict(_)), "{error}");
        assert!(error.to_string().contains(options[1].0), "{error}");
    }
    for options in [
        &[("updelay", "150"), ("downdelay", "30")][..],
        &[("mode", "active-backup"), ("primary", "eth0"), ("xmit_hash_policy", "layer3+4")],
        &[("mode", "broadcast"), ("primary_reselect", "failure"), ("num_grat_arp", "9")],
        &[("packets_per_slave", "0")],
        &[("mode", "802.3ad"), ("hash_buckets", "256")],
        &[("mode", "balance-alb"), ("primary", "eth0"), ("tlb_dynamic_lb", "0"), ("lp_interval", "5")],
        &[("mode", "broadcast"), ("lp_interval", "5")],
        &[("mode", "802.3ad"), ("lacp_rate", "fast"), ("ad_select", "count"), ("wait_to_restore", "5000")],
        &[("mode", "balance-rr"), ("ad_select", "count"), ("lacp_rate", "slow")],
    ] {
        with(options).check().unwrap();
    }
}

#[test]
fn the_later_of_two_monitors_switches_the_other_off() {
    let config = with(&[("miimon", "50"), ("arp_interval", "200"), ("arp_validate", "filter_backup")]);
    assert_eq!((config.miimon_ms, config.arp.interval_ms), (0, 200));
    assert_eq!(config.arp.validate, ArpValidate::FilterBackup);
    let config = with(&[("arp_interval", "200"), ("arp_validate", "all"), ("miimon", "50")]);
    assert_eq!((config.miimon_ms, config.arp.interval_ms, config.arp.validate), (50, 0, ArpValidate::None));
    assert_eq!(with(&[("arp_interval", "0")]).miimon_ms, 100);
    let both =
        Config { miimon_ms: 50, arp: ArpMonitoring { interval_ms: 200, ..Default::default() }, ..Config::default() };
    let error = both.check().unwrap_err().to_string();
    assert!(error.contains("exclude each other"), "{error}");
}

#[test]
fn priorities_are_set_member_by_member() {
    let prio = |texts: &[&str]| {
        let mut config = Config::default();
        texts.iter().try_for_each(|text| config.set("prio", text))?;
        Ok::<_, ConfigError>(config.option("prio").unwrap())
    };
    assert_eq!(prio(&["eth1:5", " eth0:-3 , eth2:1\n"]).unwrap(), "eth0:-3,eth1:5,eth2:1");
    assert_eq!(prio(&["eth1:5,eth0:2", "eth1:0"]).unwrap(), "eth0:2");
    assert_eq!(prio(&["eth1:-2147483648"]).unwrap(), "eth1:-2147483648");
    for bad in ["eth0", "eth0:", "eth0:x", "eth0:+1", "eth0:2147483648", ":1", "a b:1", "eth0:1:2"] {
        assert!(prio(&[bad]).is_err(), "{bad}");
    }
    let error = with(&[("mode", "balance-xor"), ("prio", "eth0:5")]).check().unwrap_err().to_string();
    assert!(error.contains("prio eth0:5"), "{error}");
}

#[test]
fn carrier_is_always_used() {
    for text in ["on", "1", "default"] {
        with(&[("use_carrier", text)]);
    }
    let error = Config::default().set("use_carrier", "0").unwrap_err().to_string();
    assert!(error.contains("on (1)"), "{error}");
}

#[test]
fn targets_are_listed_added_and_removed() {
    let targets = |texts: &[&str]| {
        let mut config = Config::default();
        texts.iter().try_for_each(|text| config.set("arp_ip_target", text))?;
        Ok::<_, ConfigError>(config.option("arp_ip_target").unwrap())
    };
    assert_eq!(targets(&["10.0.0.1, 10.0.0.2", "10.0.0.3"]).unwrap(), "10.0.0.3");
    assert_eq!(targets(&["10.0.0.1,10.0.0.2", "+10.0.0.3,-10.0.0.1\n"]).unwrap(), "10.0.0.2,10.0.0.3");
    assert_eq!(targets(&["10.0.0.1", ""]).unwrap(), "");
    let sixteen = (1..=16).map(|n| format!("10.0.0.{n}")).collect::<Vec<_>>().join(",");
    assert_eq!(targets(&[&sixteen]).unwrap(), sixteen);
    for (texts, why) in [
        (&[sixteen.as_str(), "+10.0.1.1"][..], "up to 16"),
        (&["10.0.0.1", "+10.0.0.1"], "10.0.0.1 is a target already"),
        (&["10.0.0.1,10.0.0.1"], "is a target already"),
        (&["-10.0.0.1"], "10.0.0.1 is no target"),
        (&["255.255.255.255"], "cannot be a target"),
        (&["0.0.0.0"], "cannot be a target"),
        (&["10.0.0.1,+10.0.0.2"], "every address with a sign or none"),
        (&["fe80::1"], "IPv4"),
        (&["+-10.0.0.1"], "IPv4"),
    ] {
        let error = targets(texts).unwrap_err().to_string();
        assert!(error.contains(why), "{texts:?}: {error}");
    }
    for bad in ["::", "::1", "ff02::1", "10.0.0.1"] {
        assert!(Config::default().set("ns_ip6_target", bad).is_err(), "{bad}");
    }
}

#[test]
fn queues_are_merged_bounded_and_each_members_own() {
    let queues = |texts: &[&str]| {
        let mut config = Config::default();
        texts.iter().try_for_each(|text| config.set("queue_id", text))?;
        config.check()?;
        Ok::<_, ConfigError>(config.option("queue_id").unwrap())
    };
    assert_eq!(queues(&["eth1:2, eth0:16\n"]).unwrap(), "eth0:16,eth1:2");
    assert_eq!(queues(&["eth0:1,eth1:2", "eth0:0,eth2:1"]).unwrap(), "eth1:2,eth2:1");
    assert_eq!(queues(&["eth0:1,eth1:2", "eth0:2,eth1:1"]).unwrap(), "eth0:2,eth1:1", "what is swapped is no conflict");
    for bad in ["eth0", "eth0:", "eth0:17", "eth0:-1", "eth0:x", ":1", "a/b:1", "eth0:65537"] {
        let error = queues(&[bad]).unwrap_err();
        assert!(matches!(error, ConfigError::BadValue { option: "queue_id", .. }), "{bad}: {error}");
    }
    let twice = queues(&["eth0:1,eth1:1"]).unwrap_err().to_string();
    assert!(twice.contains("`queue_id eth1:1` is the queue of eth0"), "{twice}");
}

#[test]
fn an_active_slave_needs_a_mode_that_has_one() {
    for mode in Mode::ALL {
        for (text, wish) in [("eth0", ActiveSlave::Member("eth0".to_owned())), (" \n", ActiveSlave::Best)] {
            let config = with(&[("mode", mode.name()), ("active_slave", text)]);
            assert_eq!(config.active_slave.as_ref(), Some(&wish));
            assert_eq!(config.check().is_ok(), mode.uses_primary() || wish == ActiveSlave::Best, "{mode} {text:?}");
        }
    }
    assert!(Config::default().set("active_slave", "a/b").is_err());
    let wish = |config: &Config| config.option("active_slave");
    assert_eq!(wish(&with(&[("active_slave", "eth0")])), Some("eth0".to_owned()));
    assert_eq!(wish(&Config::default()), None);
}

#[test]
fn the_old_stripe_key_goes_with_a_new_one_and_is_not_shown() {
    let (new, old) = ("a-new-key-of-16-characters", "an-old-key-of-16-characters");
    let both = with(&[("mode", "stripe"), ("stripe_key", new), ("stripe_key_old", old)]);
    assert_eq!(both.check(), Ok(()));
    assert!(both.options().contains(&("stripe_key_old", old.to_owned())), "as it is kept");
    assert!(both.shown_options().contains(&("stripe_key_old", "(hidden)".to_owned())));
    assert!(!format!("{both:?}").contains(old));
    let alone = with(&[("mode", "stripe"), ("stripe_key_old", old)]).check().unwrap_err();
    assert!(alone.to_string().contains("there is no `stripe_key`") && !alone.to_string().contains(old));
    let elsewhere = with(&[("stripe_key_old", old)]).check().unwrap_err().to_string();
    assert_eq!(elsewhere, "`stripe_key_old` works in mode stripe alone; the mode is balance-rr");
    let refused = Config::default().set("stripe_key_old", "short").unwrap_err().to_string();
    assert!(refused.contains("stripe_key_old") && !refused.contains("short"), "{refused}");
}

#[test]
fn a_stripe_key_is_kept_and_not_shown() {
    let key = "0123456789abcdef";
    let config = with(&[("mode", "stripe"), ("stripe_key", key)]);
    assert_eq!(config.check(), Ok(()));
    assert!(config.options().contains(&("stripe_key", key.to_owned())), "as it is kept");
    assert!(config.shown_options().contains(&("stripe_key", "(hidden)".to_owned())));
    assert!(!format!("{config:?} {:?}", config.shown_options()).contains(key));
    assert!(Config::default().shown_options().contains(&("stripe_key", String::new())), "nor is one invented");
    let rest = |options: Vec<(&'static str, String)>| options.into_iter().filter(|(name, _)| *name != "stripe_key");
    assert!(rest(config.options()).eq(rest(config.shown_options())));
    for bad in
        ["0123456789abcde", "0123456789 abcdef", "0123456789abcd\u{e9}f", "file:/etc/nicteam.key", &"x".repeat(65)]
    {
        let refused = Config::default().set("stripe_key", bad).unwrap_err();
        assert!(!refused.to_string().contains(bad) && refused.to_string().contains("16 to 64"), "{refused}");
    }
    assert_eq!(with(&[("stripe_key", key), ("stripe_key", "")]).stripe_key, None);
    let elsewhere = with(&[("stripe_key", key)]).check().unwrap_err().to_string();
    assert_eq!(elsewhere, "`stripe_key` works in mode stripe alone; the mode is balance-rr");
}

#[test]
fn the_table_names_each_option_once_and_knows_its_values() {
    let names: Vec<_> = Config::OPTIONS.iter().map(|option| option.name).collect();
    let lasting: Vec<_> = Config::OPTIONS.iter().filter(|option| option.lasts()).map(|option| option.name).collect();
    let printed: Vec<_> = Config::default().options().into_iter().map(|(name, _)| name).collect();
    assert_eq!(lasting, printed);
    assert_eq!(names.len() - lasting.len(), 1, "active_slave alone is granted and forgotten");
    for (place, option) in Config::OPTIONS.iter().enumerate() {
        assert_eq!(names.iter().position(|name| *name == option.name), Some(place));
        assert!(std::ptr::eq(ConfigOption::named(option.name).unwrap(), option));
        let takes = |value: &str| {
            Config::default().set(option.name, value).unwrap_or_else(|error| panic!("{}: {error}", option.name));
        };
        match option.values {
            Values::Names(names) => names.iter().for_each(|name| takes(name)),
            Values::Number { max, words } => {
                takes(&max.to_string());
                words.iter().for_each(|(word, _)| takes(word));
            }
            Values::Positive { max, words } => {
                takes("1");
                takes(&max.to_string());
                words.iter().for_each(|(word, _)| takes(word));
                assert!(Config::default().set(option.name, "0").is_err(), "{}", option.name);
            }
            Values::Device => takes("eth0"),
            Values::Text { example, .. } => takes(example),
        }
    }
}

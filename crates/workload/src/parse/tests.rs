use super::{Limits, parse};
use crate::{Kind, PageSize, PhaseSetting, PhaseSettings, Workload, WorkloadError};

const LIMITS: Limits = Limits::of_tests();

fn message(text: &str) -> String {
    parse(text, &LIMITS).unwrap_err().to_string()
}

#[test]
fn a_name_alone_takes_the_defaults() {
    for kind in Kind::ALL {
        assert_eq!(parse(kind.name(), &LIMITS), Ok(Workload::new(kind)));
    }
}

/// Only the Xeon 5500's devices have deadlines: elsewhere the key would change nothing.
#[test]
fn what_a_machine_lacks_is_refused() {
    let without = Limits { isochronous: false, peers: false, ..LIMITS };
    for (text, words) in [("dma-read:isoc=50", "needs a machine such as nehalem"), ("dma-read:peer=5", "such as 8592+")]
    {
        assert!(parse(text, &LIMITS).is_ok(), "{text}");
        let message = parse(text, &without).unwrap_err().to_string();
        assert!(message.contains("from 0 to 0") && message.contains(words), "{message}");
    }
    assert!(parse("dma-read:isoc=0", &without).is_ok());
}

/// Four threads of a copy take two lines each; what the message has is what was written, with its suffix.
#[test]
fn a_value_that_another_rules_out_is_in_the_message_as_it_was_written() {
    let text = message("copy:threads=4,footprint=256,seed=5");
    assert!(text.starts_with("footprint=256 is out of range: footprint goes from 512 to "), "{text}");
    let text = message("stream:seed=5,stride=1M,footprint=1k");
    assert!(text.starts_with("stride=1M is out of range: "), "{text}");
}

#[test]
fn keys_and_suffixes() {
    let workload =
        parse("mixed:requests=2k,threads=3,footprint=1M,read=70,stride=128,remote=0,seed=9", &LIMITS).unwrap();
    let expected = Workload {
        kind: Kind::Mixed,
        requests: 2048,
        threads: 3,
        footprint: 1 << 20,
        pages: None,
        within: 0,
        read: 70,
        delay: 0,
        stride: 128,
        vectors: 0,
        cpu: 0,
        remote: 0,
        expander: 0,
        partial: 0,
        allocate: 100,
        isochronous: 0,
        peer: 0,
        atomic: 0,
        socket: None,
        memory: None,
        warm: false,
        warm_up: None,
        seed: 9,
    };
    assert_eq!(workload, expected);
    assert_eq!(parse(&workload.to_string(), &LIMITS), Ok(workload));
}

#[test]
fn pages_have_two_sizes_and_lie_in_the_memory_of_a_socket() {
    for (text, size) in [("4K", PageSize::Small), ("4096", PageSize::Small), ("2M", PageSize::Large)] {
        let workload = parse(&format!("copy:pages={text}"), &LIMITS).unwrap();
        assert_eq!((workload.pages, workload.within), (Some(size), 64 << 30), "{text}");
        assert_eq!(parse(&workload.to_string(), &LIMITS), Ok(workload));
    }
    // 64 GiB have 16,777,216 pages of 4 KiB, whose entries take 128 MiB.
    assert!(parse("copy:pages=4K,footprint=68585259008", &LIMITS).is_ok());
    assert!(
        message("copy:footprint=64G,pages=4K").contains("68585259008"),
        "{}",
        message("copy:footprint=64G,pages=4K")
    );
    assert_eq!(message("chase:pages=1G"), "pages=1G: pages have 4K or 2M");
}

/// As many threads as a socket has without the key, and no more than it has hardware threads.
#[test]
fn threads_run_on_a_socket_and_reach_the_memory_of_one() {
    let two = Limits { sockets: 2, ..LIMITS };
    for kind in ["stream", "copy", "triad", "random", "chase", "mixed", "ntstore"] {
        let workload = parse(&format!("{kind}:socket=1,memory=0"), &two).unwrap();
        let threads = if kind == "chase" { 1 } else { 8 };
        assert_eq!((workload.socket, workload.memory, workload.threads), (Some(1), Some(0), threads), "{kind}");
        assert_eq!(parse(&workload.to_string(), &two), Ok(workload));
    }
    let message = parse("stream:threads=9,socket=0", &two).unwrap_err().to_string();
    assert!(message.contains("threads goes from 1 to 8 (hardware threads of the socket"), "{message}");
}

#[test]
fn devices_have_a_socket_and_a_memory() {
    let two = Limits { sockets: 2, expander: true, ..LIMITS };
    let workload = parse("dma-write:socket=1,memory=0", &two).unwrap();
    assert_eq!((workload.socket, workload.memory), (Some(1), Some(0)));
    assert_eq!(parse(&workload.to_string(), &two), Ok(workload));
    let message = |text: &str| parse(text, &two).unwrap_err().to_string();
    assert!(message("dma-read:memory=2").contains("memory goes from 0 to 1"));
    assert_eq!(
        message("dma-read:memory=1,remote=30"),
        "memory and remote exclude each other (memory names the socket of all accesses, remote a share of them \
         elsewhere): keep one of them"
    );
    assert!(message("dma-write:memory=1,cxl=30").contains("memory and cxl exclude each other"));
    assert_eq!(parse("dma-write:socket=1,cxl=30", &two).map(|workload| workload.expander), Ok(30));
}

#[test]
fn messages_name_key_value_and_limits() {
    assert!(message("steam").contains("did you mean stream?"));
    assert!(
        message("chase:stride=64")
            .contains("its keys: requests, threads, cpu, footprint, pages, socket, memory, remote, cxl, warmup, seed")
    );
    assert!(message("stream:foot=1").contains("no key \"foot\""));
    assert!(message("stream:thread=1").contains("did you mean threads?"));
    assert_eq!(message("random:requests=0"), "requests=0 is out of range: requests goes from 1 to 1099511627776");
    assert!(message("stream:threads=17").contains("threads goes from 1 to 16"));
    assert!(message("stream:cpu=1").contains("from 0 to 0"));
    assert!(message("triad:vectors=512").contains("needs a machine such as 8592+"));
    let air = PhaseSettings { settings: &[PhaseSetting::Air], ..LIMITS.phase_settings };
    let placed = Limits { phase_settings: air, ..LIMITS };
    let workload = parse("triad:vectors=512,cpu=15", &placed).unwrap();
    assert_eq!((workload.vectors, workload.cpu), (512, 15));
    assert_eq!(parse(&workload.to_string(), &placed), Ok(workload));
    assert!(parse("triad:vectors=128", &placed).is_err() && parse("triad:cpu=16", &placed).is_err());
    assert!(message("stream:read=101").contains("read goes from 0 to 100"));
    assert!(message("stream:remote=5").contains("needs a second socket"));
    assert!(message("stream:cxl=5").contains("needs a machine with CXL memory"));
    let with = Limits { expander: true, ..LIMITS };
    assert_eq!(parse("stream:cxl=5", &with).map(|workload| workload.expander), Ok(5));
    assert!(message("chase:footprint=65G").contains("larger than memory: the machine has 68719476736 bytes (64 GiB)"));
    assert!(message("copy:footprint=512").contains("footprint goes from 1024 to"));
    assert!(message("stream:footprint=1M,stride=1M").contains("stride goes from 1 to 131072"));
    assert!(message("stream:requests").contains("has no value"));
    assert!(message("stream:requests=1,requests=2").contains("given twice"));
    assert!(message("stream:requests=many").contains("requests=many is no number"));
    assert_eq!(
        message("dma-read:socket=1"),
        "socket=1 is out of range: socket goes from 0 to 0 (the machine's sockets, numbered from 0)"
    );
    assert!(message("idle:socket=0").contains("no key \"socket\""));
    assert!(matches!(parse("", &LIMITS), Err(WorkloadError::UnknownWorkload { .. })));
    assert!(matches!(parse("stream:", &LIMITS), Err(WorkloadError::UnknownKey { .. })));
}

//! A trace replays to what was recorded.

use crate::harness::{pattern, words};
use pericore_tracer::{Access, Geometry, Kind, Options, Recorder, Source, TraceHeader, TraceReader, Tracer};

fn all(source: &mut impl Source) -> Vec<Access> {
    let (mut batch, mut all) = (Vec::new(), Vec::new());
    while source.next_batch(&mut batch).expect("accesses") {
        all.append(&mut batch);
    }
    all
}

#[test]
fn accesses_threads_and_notes_come_back() {
    let program = pattern().to_str().expect("text");
    let command = format!("{program} threads 8 0x10000; {program} fork 0x10000; {program} renew 0x4000 3");
    let arguments = words(&["-c", &command]);
    let header = TraceHeader {
        command: vec!["sh".into(), "-c".into(), command],
        data_cache: Geometry::L1,
        fetch_cache: Geometry::L1,
    };
    let running =
        Tracer::launch("sh".as_ref(), &arguments, Options { follow: true, ..Options::default() }).expect("starts");
    let mut file = Vec::new();
    let mut recorder = Recorder::new(running, &mut file, &header).expect("begins");
    let recorded = all(&mut recorder);
    let (threads, summary) = (recorder.threads().to_vec(), recorder.summary());
    assert!(recorder.into_source().finish().expect("ends").status.success());

    let mut reader = TraceReader::new(&file[..]).expect("a trace");
    assert_eq!(reader.header(), &header);
    assert_eq!(all(&mut reader), recorded);
    assert_eq!(reader.threads(), threads);
    assert_eq!(reader.summary(), summary);
    assert!(recorded.iter().filter(|access| access.kind == Kind::Unmap).count() > 3);
    assert!(file.len() < recorded.len() * 8, "{} bytes for {} accesses", file.len(), recorded.len());
    println!("{:.2} bytes an access", file.len() as f64 / recorded.len() as f64);
}

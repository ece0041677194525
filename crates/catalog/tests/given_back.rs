//! What is loaded at run time is given back to the last byte: a user's event file, a user's folder of data.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::os::unix::fs::MetadataExt as _;

use pericore_catalog::Arena;
use pericore_catalog::event_file::{EventFile, overlay, with_metrics};
use pericore_catalog::own::compile;

thread_local! {
    static IN_USE: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, with the bytes that each thread has in use.
struct Counted;

fn count(bytes: usize, sign: isize) {
    // A thread that ends has no count any more.
    let _ = IN_USE.try_with(|in_use| in_use.set(in_use.get() + sign * bytes as isize));
}

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: the caller's promises are the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTED: Counted = Counted;

/// Loads something several times, with what it has in use each time while it is there; nothing may be left of it. The
/// first time, what is shared for good is made, such as the rows of shipped families.
fn assert_given_back(load: impl Fn() -> isize) {
    load();
    for _ in 0..3 {
        let before = IN_USE.get();
        let held = load();
        assert!(held - before > 1000, "something was loaded: {held} bytes, {before} before");
        assert_eq!(IN_USE.get() - before, 0, "bytes left");
    }
}

/// A subevent and an event that the E5-2600 does not have, and a metric of them.
const FILE: &str = r#"{"Header": {"Info": "mine"}, "Events": [
{"Unit": "iMC", "EventName": "UNC_M_CAS_COUNT.MINE", "EventCode": "0x04", "UMask": "0x80", "Counter": "0,1,2,3"},
{"Unit": "CBO", "EventName": "UNC_C_MINE.SUB", "EventCode": "0x7E", "UMask": "0x01", "Counter": "0,1",
 "BriefDescription": "Something that no guide has."}],
"Metrics": [{"MetricName": "MINE", "Formula": "a + b", "BriefDescription": "Both.", "UnitOfMeasure": "Count",
 "Events": [{"Name": "UNC_M_CAS_COUNT.MINE", "Alias": "a"}, {"Name": "UNC_M_CAS_COUNT.RD", "Alias": "b"}]}]}"#;

#[test]
fn an_event_file_leaves_nothing() {
    let family = pericore_catalog::family("e5-2600").expect("shipped");
    assert_given_back(|| {
        let arena = Arena::default();
        let text = FILE.to_owned();
        let file = EventFile::parse(&text, family).expect("a file");
        let events = overlay(&arena, family, &file, "mine.json");
        assert_eq!((events.added, events.problems.len()), (2, 0), "{:?}", events.problems);
        let merged = with_metrics(&arena, events.family, &file.metrics, "mine.json");
        assert_eq!((merged.added, merged.problems.len()), (1, 0), "{:?}", merged.problems);
        let (cbo, imc) = (merged.family.unit("cbo").expect("cbo"), merged.family.unit("imc").expect("imc"));
        let mine = cbo.event("MINE").and_then(|event| event.subevent("SUB")).expect("the file's");
        // Code 0x7E, umask 0x01 in bits 15:8.
        assert_eq!((mine.config, mine.description), (0x17e, "Something that no guide has."));
        assert!(imc.metrics.iter().any(|metric| metric.name == "MINE"));
        // The same unit, with more in it; the family itself has nothing of it.
        assert!(cbo.id == family.unit("cbo").expect("cbo").id && cbo.id != imc.id);
        assert!(family.unit("cbo").expect("cbo").event("MINE").is_none());
        IN_USE.get()
    });
}

#[test]
fn a_folder_of_data_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let block = folder.path().join("blocks/imc-ddr3-v1");
    fs::create_dir_all(&block).expect("a folder");
    let event = "[[event]]\nname = \"MY_EVENT\"\ncode = 0x7E\ncounters = [0, 1]\nsource = \"mine\"\n\
                 description = \"Something that no guide has.\"\n";
    fs::write(block.join("events-mine.toml"), event).expect("written");
    let user = fs::metadata(folder.path()).expect("a folder").uid();
    let folders = [folder.path().to_owned()];
    assert_given_back(|| {
        let arena = Arena::default();
        let families = compile(&arena, &folders, user).expect("good data");
        let family = families.iter().find(|family| family.name == "e5-2600").expect("it has the block");
        assert_eq!(family.unit("imc").and_then(|unit| unit.event("MY_EVENT")).map(|event| event.code), Some(0x7e));
        IN_USE.get()
    });
}

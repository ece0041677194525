//! Recordings as objects of a store that speaks S3's protocol (PyPI's moto), read by others' programs (boto3, pyarrow).
//! Built with the feature `s3` alone; without it, there is a word that says so.

#[cfg(feature = "s3")]
mod objects;

/// A name of an object is no file's: nothing is written, and the error says what to do.
#[cfg(not(feature = "s3"))]
#[test]
fn without_the_feature_an_objects_name_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = ["--machine", "e5-2600", "--workload", "random:requests=1k,footprint=64M"];
    for line in [&[&["record", "-o", "s3://fleet/x.rec"][..], &run].concat(), &vec!["report", "s3://fleet/x.rec"]] {
        let mut program = crate::ours::command(crate::ours::PERICORE);
        let output = program.args(line).current_dir(&folder).output().expect("the program starts");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(255) && messages.contains("build it with --features s3"),
            "{line:?}: {messages}"
        );
    }
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0, "no folder s3:");
}

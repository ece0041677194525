//! Folders of users' own data that cannot be used: the shipped catalogue stays as it is.

use std::fs;
use std::os::unix::fs::MetadataExt;

use pericore_catalog::own::{OwnError, load};

#[test]
fn a_folder_that_is_not_there_is_named() {
    let missing = std::env::temp_dir().join("pericore-no-such-catalogue");
    let refused = load(std::slice::from_ref(&missing), 0).unwrap_err();
    assert!(matches!(&refused, OwnError::NoFolder(folder) if *folder == missing), "{refused}");
    assert!(load(&[], 0).is_ok());
}

/// One metric of one block, whose event no block has: that is the only defect, with file and line.
#[test]
fn a_defect_is_reported_with_its_file_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let blocks = folder.path().join("blocks/imc-ddr3-v1");
    fs::create_dir_all(&blocks).unwrap();
    let metric = "[[metric]]\nname = \"MINE\"\nexpression = \"NO_SUCH_EVENT * 64\"\nunit_of_measure = \"B\"\n\
                  quantity = \"extensive\"\nsource = \"mine\"\ndescription = \"Of nothing.\"\n";
    fs::write(blocks.join("metrics-mine.toml"), metric).unwrap();
    let user = fs::metadata(folder.path()).unwrap().uid();
    let refused = load(&[folder.path().to_owned()], user).unwrap_err();
    assert!(matches!(refused, OwnError::Defects(_)), "{refused}");
    let text = refused.to_string();
    assert!(text.contains("metrics-mine.toml") && text.contains("NO_SUCH_EVENT"), "{text}");
    let shipped = ["events.toml", "registers.toml", "families/"];
    assert!(!shipped.iter().any(|file| text.contains(file)), "{text}");
    assert!(pericore_catalog::family("e5-2600").unwrap().unit("imc").unwrap().metrics.iter().all(|m| m.name != "MINE"));
}

//! Views that several families have, in a file of their own.

use std::fs;

use crate::defects::Catalogue;
use crate::rules::{Case, case, refused};

const FAMILY: &str = "families/toy.toml";
const VIEWS: &str = "views/both.toml";

/// A catalogue whose family has the views of a shared file.
fn whole() -> Catalogue {
    let catalogue = Catalogue::new().replace(FAMILY, "aliases", "views = \"both\"\naliases");
    fs::create_dir(catalogue.root().join("views")).unwrap();
    fs::write(
        catalogue.root().join(VIEWS),
        "[[view]]\nname = \"toys\"\ntitle = \"All.\"\nmetrics = [\"box/TOY_RATE\"]\n",
    )
    .unwrap();
    catalogue
}

const CASES: &[Case] = &[
    case(FAMILY, "\"both\"", "\"bot\"", "views", "no set of views \"bot\"", "did you mean \"both\"?"),
    case(
        FAMILY,
        "\"both\"",
        "\"neither\"",
        "views",
        "no set of views \"neither\"",
        "add the file views/neither.toml, or correct the name",
    ),
    case(VIEWS, "TOY_RATE", "TOY", "[[view]]", "view toys: no metric \"box/TOY\"", "name it as unit/METRIC"),
];

#[test]
fn shared_views_are_named_and_have_metrics() {
    refused(whole, CASES);
    assert_eq!(whole().report(), "no defects");
    let unused = whole().replace(FAMILY, "views = \"both\"\n", "").report();
    assert!(
        unused.contains("views/both.toml: no family has these views\n    fix: add \"both\" to `views`"),
        "{unused}"
    );
}

//! The page around the data: one file that needs no other. A server's page is the same without data, which it fetches
//! from where it comes from.

use serde::Serialize;

const PAGE: &str = include_str!("assets/page.html");
const CHARTS_LICENCE: &str = include_str!("assets/uplot/LICENSE");

const STYLES: [&str; 2] = [include_str!("assets/uplot/uPlot.min.css"), include_str!("assets/page.css")];

/// In the order in which they need each other; what starts them comes last.
const SCRIPTS: [&str; 10] = [
    include_str!("assets/uplot/uPlot.iife.min.js"),
    include_str!("assets/base.js"),
    include_str!("assets/theme.js"),
    include_str!("assets/summary.js"),
    include_str!("assets/changes.js"),
    include_str!("assets/lines.js"),
    include_str!("assets/over_time.js"),
    include_str!("assets/units.js"),
    include_str!("assets/scatter.js"),
    include_str!("assets/show.js"),
];

/// Shows what is in the page.
const MAIN: &str = include_str!("assets/main.js");
/// Shows what a server has, again and again.
const LIVE: &str = include_str!("assets/live.js");

/// What differs between a report and a server's page.
#[derive(Debug)]
struct PageKind {
    heading: &'static str,
    /// What the page's policy lets it load.
    loads: &'static str,
    /// Where the same figures are without scripts.
    elsewhere: &'static str,
    start: &'static str,
}

const REPORT: PageKind = PageKind {
    heading: "Pericore report",
    loads: "",
    elsewhere: "`pericore report` prints the same figures.",
    start: MAIN,
};

const SERVED: PageKind = PageKind {
    heading: "Pericore live",
    loads: "; connect-src 'self'",
    elsewhere: "/metrics has the same figures.",
    start: LIVE,
};

/// The whole page. `title` and `data` come from recordings: nothing in them is trusted.
///
/// # Errors
/// Data that is no JSON: keys that are no text. The page's own has none.
pub fn fill(title: &str, data: &impl Serialize) -> serde_json::Result<String> {
    Ok(REPORT.page(title, &serde_json::to_string(data)?))
}

/// The page of a server, the same for all: it fetches `/live.json?after=SAMPLES` from where it comes from.
pub fn live_page() -> String {
    SERVED.page("live", "null")
}

impl PageKind {
    fn page(&self, title: &str, island: &str) -> String {
        let mut page = String::with_capacity(island.len() + 200_000);
        // Each marker is there once, and what is put in its place is not looked at again.
        let mut rest = PAGE;
        for (marker, content) in [
            ("@LOADS@", self.loads.to_owned()),
            ("@TITLE@", as_text(title)),
            ("@STYLES@", STYLES.join("\n")),
            ("@HEADING@", self.heading.to_owned()),
            ("@ELSEWHERE@", self.elsewhere.to_owned()),
            ("@DATA@", in_script(island)),
            ("@LICENCE@", CHARTS_LICENCE.to_owned()),
            ("@SCRIPTS@", SCRIPTS.join("\n") + "\n" + self.start),
        ] {
            let (before, behind) = rest.split_once(marker).unwrap_or((rest, ""));
            page += before;
            page += &content;
            rest = behind;
        }
        page + rest
    }
}

/// Text between tags.
fn as_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// JSON inside a script element. A parser of HTML looks for the end of the element and for comments, both of which
/// begin with `<`; in JSON these signs are in texts only, where they may be escaped.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "</script><script>alert(1)</script><!-- \"' & @SCRIPTS@ \\";

    #[test]
    fn what_is_recorded_stays_text() {
        let page = fill(HOSTILE, &[HOSTILE]).expect("a page");
        let plain = fill("", &[""]).expect("a page");
        for sign in ["<script", "</script", "<!--", "alert(1)</"] {
            assert_eq!(page.matches(sign).count(), plain.matches(sign).count(), "{sign}");
        }
        let (_, island) = page.split_once("id=\"data\">").expect("an island");
        let (island, _) = island.split_once("</script>").expect("its end");
        assert_eq!(serde_json::from_str::<[String; 1]>(island).expect("JSON"), [HOSTILE.to_owned()]);
    }

    #[test]
    fn no_address_is_loaded() {
        let page = fill("title", &()).expect("a page");
        for loads in ["src=", "href=", "@import", "url(", "fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon"] {
            assert!(!page.contains(loads), "{loads}");
        }
        assert!(page.contains("default-src 'none'"), "browsers refuse what is left");
        assert!(!page.contains("@SCRIPTS@") && page.contains("MIT"));
    }

    /// A server's page has no numbers, and fetches them from nowhere but the server.
    #[test]
    fn a_served_page_loads_from_its_server_only() {
        let page = live_page();
        assert!(page.contains("default-src 'none'") && page.contains("; connect-src 'self'\""));
        assert_eq!(page.matches("fetch(").count(), 1);
        for loads in ["src=", "href=", "@import", "url(", "XMLHttpRequest", "WebSocket", "sendBeacon", "@ELSEWHERE@"] {
            assert!(!page.contains(loads), "{loads}");
        }
        assert!(page.contains("id=\"data\">null</script>"));
    }
}

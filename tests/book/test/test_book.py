import tempfile
import unittest
from pathlib import Path

from book import links, reference, stage

LISTED = {"limits.md", "counting/stat.md", "book/tour.md"}


class Names(unittest.TestCase):
    def linked(self, text, path, there=()):
        return stage.linked(text, Path(path), LISTED, lambda file: file in there)

    def test_a_page_that_is_named_is_linked_from_where_the_name_is(self):
        named = self.linked("See `docs/limits.md` and `../limits.md`.", "counting/rounds.md")
        self.assertEqual(named, "See [`docs/limits.md`](../limits.md) and [`../limits.md`](../limits.md).")
        self.assertEqual(self.linked("`stat.md`", "limits.md"), "[`stat.md`](counting/stat.md)")

    def test_code_and_unknown_names_stay(self):
        for text in ("```sh\n`limits.md`\n```", "`README.md`", "`crates/limits.rs`", "[`limits.md`](limits.md)"):
            self.assertEqual(self.linked(text, "book/tour.md", {"book/limits.md"}), text)

    def test_a_link_out_of_the_docs_is_its_words(self):
        self.assertEqual(self.linked("[log](../tests/a.log), [b](limits.md#why)", "league.md", {"limits.md"}), "log, [b](limits.md#why)")
        self.assertEqual(self.linked("[net](https://a.example/)", "league.md"), "[net](https://a.example/)")

    def test_a_readme_is_the_index_of_its_folder(self):
        text = "[a](README.md) [b](../c/README.md#d) [e](fREADME.md) `README.md`"
        self.assertEqual(stage.README.sub(r"\1index.md", text), "[a](index.md) [b](../c/index.md#d) [e](fREADME.md) `README.md`")

    def test_chapters_come_below_the_first_page_of_the_reference(self):
        summary = "# S\n\n- [R](book/reference.md)\n- [next](limits.md)\n"
        self.assertEqual(stage.with_chapters(summary, ["- [a](b.md)"]), "# S\n\n- [R](book/reference.md)\n  - [a](b.md)\n- [next](limits.md)\n")


class Tables(unittest.TestCase):
    def test_a_row_stays_one_row(self):
        self.assertEqual(reference.cells("a | b\nc", "x<y", "`p<q`", None), "| a \\| b c | x&lt;y | `p<q` |  |")

    def test_counters_are_ranges(self):
        self.assertEqual(reference.ranges([0, 1, 2, 3]), "0-3")
        self.assertEqual(reference.ranges([0, 2, 3]), "0, 2-3")

    def test_a_row_without_unit_or_source_is_found(self):
        whole = {"source": "Table 1", "description": "Reads.", "unit_of_measure": "B/s"}
        rows = [whole, {**whole, "unit_of_measure": ""}, {"description": "Reads.", "unit_of_measure": "B/s"}]
        self.assertEqual(reference.incomplete(rows, "metrics"), rows[1:])
        register = {"source": "Table 1", "width": 48}
        self.assertEqual(reference.incomplete([register, {**register, "width": None}], "registers"), [{**register, "width": None}])

    def test_a_subevent_has_the_source_of_its_event(self):
        rows = [{"unit": "u", "event": "E", "source": "2.1"}, {"unit": "u", "event": "E", "source": ""}, {"unit": "v", "event": "E", "source": ""}]
        self.assertEqual([row["source"] for row in reference.with_sources(rows)], ["2.1", "2.1", ""])

    def test_registers_are_those_of_one_instance(self):
        rows = [{"instance": 0, "register": "a"}, {"instance": 0, "register": "b"}, {"instance": 1, "register": "a"}]
        self.assertEqual([row["register"] for row in reference.one_instance(rows)], ["a", "b"])


class Links(unittest.TestCase):
    def test_what_leads_nowhere_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.html").write_text('<a href="b.html#x">1</a><a href="b.html#y">2</a><img src="c.png"><a href="https://d/">3</a>')
            (Path(folder) / "b.html").write_text('<h1 id="x">X</h1><a href="#x">1</a><a href="e.html">2</a>')
            found, pages, count = links.broken(folder)
            self.assertEqual(found, ["a.html: b.html#y", "a.html: c.png", "b.html: e.html"])
            self.assertEqual((pages, count), (2, 6))


if __name__ == "__main__":
    unittest.main()

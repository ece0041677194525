"""The copy that is mutated is the project: whatever a build finds in one is in the other."""

import filecmp
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import tree


class Tree(unittest.TestCase):
    def test_links_lead_to_the_same_in_the_copy(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(tree, "TREE", Path(folder) / "tree"):
            tree.copy_tree()
            paths = [path for path in tree.git("ls-files", "-z").split("\0") if path and (tree.ROOT / path).exists()]
            self.assertGreater(len(paths), 1000)
            links = [path for path in paths if (tree.ROOT / path).is_symlink()]
            # The crate that compiles the catalogue has it by a link to a folder.
            self.assertIn("crates/catalog/catalog", links)
            for path in paths:
                self.assertEqual(same(tree.ROOT / path, tree.TREE / path), True, path)
            # What was a link and is a file now, and the other way round, is brought up to date.
            link, file = tree.TREE / links[0], tree.TREE / "README.md"
            link.unlink()
            link.write_text("a file")
            file.unlink()
            file.symlink_to("Cargo.toml")
            tree.copy_tree()
            self.assertTrue(link.is_symlink())
            self.assertFalse(file.is_symlink())


def same(one: Path, other: Path) -> bool:
    if one.is_dir():
        seen = filecmp.dircmp(one, other)
        return not (seen.left_only or seen.right_only or seen.diff_files)
    return filecmp.cmp(one, other, shallow=False)

"""Compares what two revisions of pericore print, count and plan. `docs/development/compare.md` says how to use it."""

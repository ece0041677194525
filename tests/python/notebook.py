"""Executes a notebook, and fails unless every cell runs and each plot comes out.

With PERICORE_WRITE_TABLES=1 the notebook is written with its outputs.
"""

import os
import sys

import nbclient
import nbformat

path = sys.argv[1]
notebook = nbformat.read(path, as_version=4)
nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
code = [cell for cell in notebook.cells if cell.cell_type == "code"]
pictures = sum(
    "image/png" in output.get("data", {}) for cell in code for output in cell.outputs
)
wanted = sum("plt.show()" in cell.source for cell in code)
assert wanted > 0 and pictures == wanted, f"{path}: {pictures} pictures of {wanted}"
if os.environ.get("PERICORE_WRITE_TABLES"):
    nbformat.write(notebook, path)
print(f"{path}: {len(code)} cells, {pictures} pictures")

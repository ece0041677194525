"""Files that programs read. The same in each run."""

import random
import subprocess
import sys

MATRIX = """
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
    int n = atoi(arguments[count - 1]);
    double *a = calloc(n * n, sizeof *a), *b = calloc(n * n, sizeof *b), *c = calloc(n * n, sizeof *c), sum = 0;
    for (int i = 0; i < n * n; i++)
        a[i] = i % 7, b[i] = i % 5;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    for (int i = 0; i < n * n; i++)
        sum += c[i];
    printf("%g\\n", sum);
}
"""


def make(folder, root):
    """Names in cases.toml, and what they stand for."""
    chance = random.Random(1)
    words = [f"{chance.randrange(1 << 40):x}"[: chance.randrange(2, 10)] for _ in range(5000)]
    files = {name: folder / name for name in ["lines", "text", "numbers"]}
    files["lines"].write_text("".join(f"{chance.randrange(1 << 48):x}\n" for _ in range(60_000)))
    files["numbers"].write_text("".join(f"{chance.randrange(10**9)} {chance.choice(words)}\n" for _ in range(80_000)))
    files["text"].write_text("".join(" ".join(chance.choices(words, k=12)) + "\n" for _ in range(12_000)))
    (folder / "matrix.c").write_text(MATRIX)
    chain = root / "tests/programs/chain.c"
    for name, source in [("matrix", folder / "matrix.c"), ("chain", chain)]:
        files[name] = folder / name
        subprocess.run(["gcc", "-O2", "-pthread", "-o", files[name], source], check=True)
    # The interpreter itself, without what finds it.
    return files | {"folder": folder, "root": root, "chain_source": chain, "python": sys.executable}

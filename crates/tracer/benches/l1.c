// Loads and stores within 16 KiB: lives in any L1. The argument is the number of passes.
#include <stdlib.h>

static volatile long data[2048];

int main(int argc, char **argv) {
    long passes = argc > 1 ? atol(argv[1]) : 1000;
    for (long pass = 0; pass < passes; pass++)
        for (int i = 0; i < 2048; i += 4) {
            data[i] = data[i + 1];
            data[i + 2] = data[i + 3];
        }
    return 0;
}

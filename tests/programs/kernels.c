// Programs whose lines at memory and times can be calculated by hand. All that counts lies at BASE; what the C library and the stack do lies
// elsewhere.
//
// kernels nothing                  what every program does before and after
// kernels write BYTES              8-byte stores, one after the other
// kernels clear BYTES              the same by REP STOSB, as C libraries fill large blocks
// kernels stream BYTES             the same by non-temporal stores of 16 bytes
// kernels triad THREADS BYTES      a[i] = b[i] + 3 c[i]; BYTES is what each array has
// kernels matrix N                 a product of two matrices of N by N doubles, row by row
// kernels quicksort COUNT          sorts as many 8-byte numbers
#include <emmintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BASE 0x200000000000UL

static void *map(unsigned long number, unsigned long bytes) {
    void *wanted = (void *)(BASE + (number << 36));
    void *at = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != wanted) {
        perror("mmap");
        exit(100);
    }
    return at;
}

struct share {
    double *a, *b, *c;
    unsigned long from, to;
};

static void *triad_share(void *data) {
    const struct share *share = data;
    double *restrict a = share->a;
    const double *b = share->b, *c = share->c;
    for (unsigned long i = share->from; i < share->to; i++)
        a[i] = b[i] + 3.0 * c[i];
    return NULL;
}

static void triad(unsigned long threads, unsigned long bytes) {
    // No power of two apart.
    double *a = map(0, bytes), *b = map(1, bytes), *c = map(2, bytes);
    unsigned long count = bytes / sizeof *a;
    pthread_t *thread = calloc(threads, sizeof *thread);
    struct share *share = calloc(threads, sizeof *share);
    for (unsigned long t = 0; t < threads; t++) {
        share[t] = (struct share){a, b, c, count * t / threads, count * (t + 1) / threads};
        if (pthread_create(&thread[t], NULL, triad_share, &share[t]))
            exit(101);
    }
    for (unsigned long t = 0; t < threads; t++)
        pthread_join(thread[t], NULL);
}

static void matrix(unsigned long n) {
    unsigned long bytes = n * n * sizeof(double);
    double *a = map(0, bytes), *b = map(1, bytes), *c = map(2, bytes);
    for (unsigned long i = 0; i < n * n; i++) {
        a[i] = (double)(i % 7);
        b[i] = (double)(i % 5);
    }
    for (unsigned long i = 0; i < n; i++)
        for (unsigned long k = 0; k < n; k++)
            for (unsigned long j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static void sort(int64_t *from, int64_t *to) {
    while (to - from > 1) {
        int64_t pivot = from[(to - from) / 2], *left = from, *right = to - 1;
        while (left <= right) {
            while (*left < pivot)
                left++;
            while (*right > pivot)
                right--;
            if (left <= right) {
                int64_t held = *left;
                *left++ = *right;
                *right-- = held;
            }
        }
        // The smaller part first, so that the stack stays small.
        if (right + 1 - from < to - left) {
            sort(from, right + 1);
            from = left;
        } else {
            sort(left, to);
            to = right + 1;
        }
    }
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    unsigned long a = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
    unsigned long b = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
    if (!strcmp(what, "nothing")) {
        return 0;
    } else if (!strcmp(what, "write")) {
        volatile long *to = map(0, a);
        for (unsigned long i = 0; i < a / sizeof *to; i++)
            to[i] = 1;
    } else if (!strcmp(what, "clear")) {
        void *to = map(0, a);
        __asm__ volatile("rep stosb" : "+D"(to), "+c"(a) : "a"(1) : "memory");
    } else if (!strcmp(what, "stream")) {
        __m128i *to = map(0, a), one = _mm_set1_epi32(1);
        for (unsigned long i = 0; i < a / sizeof *to; i++)
            _mm_stream_si128(to + i, one);
        _mm_sfence();
    } else if (!strcmp(what, "triad")) {
        triad(a, b);
    } else if (!strcmp(what, "matrix")) {
        matrix(a);
    } else if (!strcmp(what, "quicksort")) {
        int64_t *numbers = map(0, a * sizeof *numbers);
        for (unsigned long i = 0; i < a; i++)
            numbers[i] = (int64_t)((i * 0x9E3779B97F4A7C15UL) >> 1);
        sort(numbers, numbers + a);
        for (unsigned long i = 1; i < a; i++)
            if (numbers[i - 1] > numbers[i])
                return 1;
    } else {
        fprintf(stderr, "kernels: what?\n");
        return 2;
    }
    return 0;
}

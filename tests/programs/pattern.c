// Accesses whose misses can be calculated by hand. All that counts lies at BASE; what the C library and the stack do lies elsewhere.
//
// pattern read BYTES STRIDE PASSES   8-byte loads
// pattern write BYTES [MIB]          8-byte stores, 64 bytes apart; then a MiB, or so many, of something else through the caches
// pattern update BYTES [MIB]         a load, then a store, 64 bytes apart; then the same
// pattern straddle COUNT             8-byte loads across two lines, 128 bytes apart
// pattern stream BYTES               non-temporal stores, 8 bytes apart
// pattern clear OFFSET BYTES         rep stosb, from OFFSET on
// pattern copy OFFSET BYTES          rep movsb to OFFSET from what lies 1 MiB further, and 5 bytes
// pattern threads COUNT BYTES        threads that load the even lines and store to the odd ones of their own MiB
// pattern outlive BYTES              the first thread ends; another one loads after half a second
// pattern sparse COUNT               a load from the first line of each GiB
// pattern renew BYTES PASSES         maps, loads and unmaps
// pattern fork BYTES                 a child that loads, in a place of its own
// pattern forks THREADS COUNT        threads that fork children, each of which loads a line of its own
// pattern closed BYTES               loads after all descriptors were closed
// pattern killed BYTES               loads, then SIGKILL
// pattern exec PROGRAM ARGUMENTS     becomes another program
// pattern status NUMBER              ends with it
// pattern evex                       an AVX-512 instruction
// pattern pause                      says "ready" and waits for a signal; SIGTERM makes it end with 43
// pattern churn COUNT                short threads, one after the other, each loading a line of its own
// pattern pass COUNT [OFFSET]        two threads that hand a line to each other; each time they have had it, they load what is OFFSET bytes away
#define _GNU_SOURCE
#include <emmintrin.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BASE 0x200000000000UL
#define ELSEWHERE 0x300000000000UL
#define MIB (1UL << 20)
#define GIB (1UL << 30)

static volatile char *map_at(unsigned long address, unsigned long bytes) {
    void *at = mmap((void *)address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != (void *)address) {
        perror("mmap");
        exit(100);
    }
    return at;
}

static void load(volatile char *from, unsigned long bytes, unsigned long stride) {
    for (unsigned long at = 0; at < bytes; at += stride)
        (void)*(volatile long *)(from + at);
}

// Puts something else through the caches.
static void displace(unsigned long mib) {
    unsigned long bytes = (mib ? mib : 1) * MIB;
    load(map_at(ELSEWHERE, bytes), bytes, 64);
}

static void *own_share(void *data) {
    volatile char *share = ((void **)data)[0];
    unsigned long bytes = (unsigned long)((void **)data)[1];
    for (unsigned long at = 0; at < bytes; at += 128) {
        (void)*(volatile long *)(share + at);
        *(volatile long *)(share + at + 64) = 1;
    }
    return NULL;
}

static void threads(unsigned long count, unsigned long bytes) {
    volatile char *base = map_at(BASE, count * MIB);
    pthread_t *thread = calloc(count, sizeof *thread);
    void *(*data)[2] = calloc(count, sizeof *data);
    for (unsigned long i = 0; i < count; i++) {
        data[i][0] = (void *)(base + i * MIB);
        data[i][1] = (void *)bytes;
        if (pthread_create(&thread[i], NULL, own_share, data[i]))
            exit(101);
    }
    for (unsigned long i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
}

static void *one_line(void *line) {
    (void)*(volatile long *)line;
    return NULL;
}

static void churn(unsigned long count) {
    volatile char *base = map_at(BASE, count * 64);
    for (unsigned long i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, one_line, (void *)(base + i * 64)))
            exit(101);
        pthread_join(thread, NULL);
    }
}

static void *load_later(void *bytes) {
    usleep(500000);
    load((volatile char *)BASE, (unsigned long)bytes, 64);
    return NULL;
}

static void outlive(unsigned long bytes) {
    pthread_t thread;
    map_at(BASE, bytes);
    if (pthread_create(&thread, NULL, load_later, (void *)bytes))
        exit(101);
    pthread_exit(NULL);
}

struct turns {
    volatile int *turn;
    volatile char *beside;
    unsigned long count;
    int own;
};

static void *take_turns(void *data) {
    struct turns *turns = data;
    for (unsigned long i = 0; i < turns->count; i++) {
        while (__atomic_load_n(turns->turn, __ATOMIC_ACQUIRE) != turns->own)
            sched_yield();
        __atomic_store_n(turns->turn, !turns->own, __ATOMIC_RELEASE);
        (void)*turns->beside;
    }
    return NULL;
}

static void pass(unsigned long count, unsigned long offset) {
    volatile char *base = map_at(BASE, offset + 64);
    volatile int *turn = (volatile int *)base;
    struct turns other = {turn, base + offset, count, 1}, own = {turn, base + offset, count, 0};
    pthread_t thread;
    if (pthread_create(&thread, NULL, take_turns, &other))
        exit(101);
    take_turns(&own);
    pthread_join(thread, NULL);
}

struct forks {
    volatile char *base;
    unsigned long count;
};

static void *fork_often(void *data) {
    struct forks *forks = data;
    for (unsigned long i = 0; i < forks->count; i++) {
        pid_t child = fork();
        if (child == 0) {
            (void)*(volatile long *)(forks->base + i * 64);
            _exit(0);
        }
        if (child < 0 || waitpid(child, NULL, 0) != child)
            exit(103);
    }
    return NULL;
}

static void fork_in_threads(unsigned long threads, unsigned long count) {
    volatile char *base = map_at(BASE, threads * count * 64);
    pthread_t *thread = calloc(threads, sizeof *thread);
    struct forks *forks = calloc(threads, sizeof *forks);
    for (unsigned long i = 0; i < threads; i++) {
        forks[i] = (struct forks){base + i * count * 64, count};
        if (pthread_create(&thread[i], NULL, fork_often, &forks[i]))
            exit(101);
    }
    for (unsigned long i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}

static void on_term(int signal) {
    (void)signal;
    _exit(43);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    unsigned long a = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
    unsigned long b = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
    unsigned long c = argc > 4 ? strtoul(argv[4], NULL, 0) : 0;
    if (!strcmp(what, "read")) {
        volatile char *base = map_at(BASE, a);
        for (unsigned long pass = 0; pass < c; pass++)
            load(base, a, b);
    } else if (!strcmp(what, "write")) {
        volatile char *base = map_at(BASE, a);
        for (unsigned long at = 0; at < a; at += 64)
            *(volatile long *)(base + at) = 1;
        displace(b);
    } else if (!strcmp(what, "update")) {
        volatile char *base = map_at(BASE, a);
        for (unsigned long at = 0; at < a; at += 64)
            *(volatile long *)(base + at) += 1;
        displace(b);
    } else if (!strcmp(what, "straddle")) {
        load(map_at(BASE, (a + 1) * 128) + 60, a * 128, 128);
    } else if (!strcmp(what, "stream")) {
        volatile char *base = map_at(BASE, a);
        for (unsigned long at = 0; at < a; at += 8)
            _mm_stream_si64((long long *)(base + at), 1);
    } else if (!strcmp(what, "clear")) {
        volatile char *to = map_at(BASE, a + b) + a;
        __asm__ volatile("rep stosb" : "+D"(to), "+c"(b) : "a"(1) : "memory");
    } else if (!strcmp(what, "copy")) {
        volatile char *base = map_at(BASE, 2 * MIB), *to = base + a, *from = base + MIB + 5;
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(b) : : "memory");
    } else if (!strcmp(what, "threads")) {
        threads(a, b);
    } else if (!strcmp(what, "outlive")) {
        outlive(a);
    } else if (!strcmp(what, "churn")) {
        churn(a);
    } else if (!strcmp(what, "pass")) {
        pass(a, b);
    } else if (!strcmp(what, "sparse")) {
        volatile char *base = map_at(BASE, a * GIB);
        load(base, a * GIB, GIB);
    } else if (!strcmp(what, "renew")) {
        for (unsigned long pass = 0; pass < b; pass++) {
            volatile char *base = map_at(BASE, a);
            load(base, a, 64);
            munmap((void *)base, a);
        }
    } else if (!strcmp(what, "fork")) {
        volatile char *base = map_at(BASE, 2 * a);
        load(base, a, 64);
        pid_t child = fork();
        if (child == 0) {
            load(base + a, a, 64);
            _exit(5);
        }
        int status;
        waitpid(child, &status, 0);
        return WEXITSTATUS(status) == 5 ? 0 : 1;
    } else if (!strcmp(what, "forks")) {
        fork_in_threads(a, b);
    } else if (!strcmp(what, "closed")) {
        for (int fd = 0; fd < 1024; fd++)
            close(fd);
        load(map_at(BASE, a), a, 64);
    } else if (!strcmp(what, "killed")) {
        load(map_at(BASE, a), a, 64);
        raise(SIGKILL);
    } else if (!strcmp(what, "exec")) {
        execv(argv[2], argv + 2);
        return 102;
    } else if (!strcmp(what, "status")) {
        return (int)a;
    } else if (!strcmp(what, "evex")) {
        // vpxorq zmm0, zmm0, zmm0
        __asm__ volatile(".byte 0x62, 0xf1, 0xfd, 0x48, 0xef, 0xc0");
    } else if (!strcmp(what, "pause")) {
        signal(SIGTERM, on_term);
        puts("ready");
        fflush(stdout);
        for (;;)
            pause();
    } else {
        fprintf(stderr, "pattern: what?\n");
        return 2;
    }
    return 0;
}

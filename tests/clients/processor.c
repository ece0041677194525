/* What a program can ask the processor itself: CPUID on each CPU, from threads, and the time-stamp counter; while it has a SIGSEGV
 * handler of its own and threads that block all signals. */

#define _GNU_SOURCE
#include <cpuid.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static sigjmp_buf recovered;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    siglongjmp(recovered, info->si_addr == (void *)8 ? 1 : 2);
}

static void *ask(void *argument)
{
    long cpu = (long)argument;
    unsigned wrong = 0;
    sigset_t all;
    cpu_set_t one;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    unsigned first[4], again[4];
    __cpuid_count(0xb, 0, first[0], first[1], first[2], first[3]);
    for (int round = 0; round < 200; round++) {
        __cpuid_count(0xb, 0, again[0], again[1], again[2], again[3]);
        wrong += memcmp(first, again, sizeof first) != 0;
    }
    unsigned a, b, c, d;
    __cpuid(1, a, b, c, d);
    printf("cpu %ld apic %u initial %u signature %x wrong %u\n", cpu, first[3], b >> 24, a, wrong);
    return NULL;
}

int main(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &action, NULL);

    char brand[49] = { 0 };
    for (unsigned part = 0; part < 3; part++) {
        unsigned *text = (unsigned *)brand + 4 * part;
        __cpuid(0x80000002 + part, text[0], text[1], text[2], text[3]);
    }
    printf("brand %s\n", brand);

    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[64];
    for (long cpu = 0; cpu < cpus && cpu < 64; cpu++) {
        pthread_create(&threads[cpu], NULL, ask, (void *)cpu);
        if (cpu % 2)
            pthread_join(threads[cpu], NULL), pthread_join(threads[cpu - 1], NULL);
    }
    if (cpus % 2)
        pthread_join(threads[cpus - 1], NULL);

    int *volatile nowhere = (int *)8;
    int fault = sigsetjmp(recovered, 1);
    if (fault == 0)
        *nowhere = 1;
    printf("own handler %d\n", fault);

    int file = open("/dev/cpu/0/msr", O_RDONLY);
    uint64_t before, between, after;
    unsigned aux;
    before = __rdtsc();
    pread(file, &between, 8, 0x10);
    after = __rdtscp(&aux);
    printf("time stamps in order %d\n", before <= between && between <= after);
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    before = __rdtsc();
    usleep(100000);
    clock_gettime(CLOCK_MONOTONIC, &end);
    after = __rdtsc();
    double seconds = (end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec) / 1e9;
    printf("MHz %.0f\n", (after - before) / seconds / 1e6);
    return 0;
}

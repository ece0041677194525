/* Programs without a library, whose instructions in user mode are the same wherever they run: -DPROGRAM=1 to 5. */

typedef unsigned long word;

static word call(word number, word argument)
{
    word result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(argument) : "rcx", "r11", "memory");
    return result;
}

enum { EXIT = 60, GETPPID = 110, PAGES = 3000, NUMBERS = 20000 };

#if PROGRAM == 1
/* Counted by hand: 1 + 2 * 1,000,000 in the loop, 3 to end. */
__asm__(".globl _start\n_start: mov $1000000, %ecx\n1: dec %ecx\njnz 1b\nmov $60, %eax\nxor %edi, %edi\nsyscall\n");
#else

#if PROGRAM == 2
/* Faults on each page twice: the zero page for the load, one of its own for the store. */
static volatile char memory[PAGES * 4096];

static void run(void)
{
    for (word page = 0; page < PAGES; page++)
        memory[page * 4096 + 5] += (char)page;
}
#elif PROGRAM == 3
static void run(void)
{
    for (int turn = 0; turn < 5000; turn++)
        call(GETPPID, 0);
}
#elif PROGRAM == 4
/* Deep enough for the stack to grow. */
static word depth(word levels)
{
    volatile char frame[2048];
    frame[levels % sizeof frame] = 1;
    return levels ? 1 + depth(levels - 1) + frame[levels % sizeof frame] : 0;
}

static void run(void)
{
    for (int turn = 0; turn < 200; turn++)
        depth(500);
}
#else
/* Numbers of a generator in order, by a heap. */
static unsigned numbers[NUMBERS];

static void sift(unsigned root, unsigned end)
{
    for (unsigned child; (child = 2 * root + 1) < end; root = child) {
        if (child + 1 < end && numbers[child] < numbers[child + 1])
            child++;
        if (numbers[root] >= numbers[child])
            return;
        unsigned kept = numbers[root];
        numbers[root] = numbers[child];
        numbers[child] = kept;
    }
}

static void run(void)
{
    unsigned random = 1;
    for (unsigned index = 0; index < NUMBERS; index++)
        numbers[index] = random = random * 1664525 + 1013904223;
    for (unsigned root = NUMBERS / 2; root-- > 0;)
        sift(root, NUMBERS);
    for (unsigned end = NUMBERS - 1; end > 0; end--) {
        unsigned kept = numbers[0];
        numbers[0] = numbers[end];
        numbers[end] = kept;
        sift(0, end);
    }
}
#endif

void _start(void)
{
    run();
    call(EXIT, 0);
    __builtin_unreachable();
}
#endif

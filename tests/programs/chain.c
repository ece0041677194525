// Loads whose addresses come from other loads, or from none. All that counts lies at BASE; each line is loaded once, in no order that a
// prefetcher would find. What is at BASE is stored first, and driven out of the caches.
//
// chain follow LINES [PASSES]   a pointer in each line leads to the next line
// chain spill LINES             the same, and the pointer goes through the stack each time
// chain move LINES              the same, and the pointer is moved to the register that is loaded from when it has come
// chain beside LINES            the same; the line's other word is loaded before the pointer
// chain index LINES             a number in each line is that of the next line
// chain pair LINES [PASSES]     two chains side by side
// chain gather LINES            numbers of lines stand next to each other, eight in a line; they are loaded in order, and the lines that they name
// chain array LINES [PASSES]    lines in the same order, whose addresses are computed
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BASE 0x200000000000UL
#define ELSEWHERE 0x300000000000UL
#define LINE 64UL

static char *map_at(unsigned long address, unsigned long bytes) {
    void *at = mmap((void *)address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != (void *)address) {
        perror("mmap");
        exit(100);
    }
    return at;
}

// The line that comes after so many: odd multiples reach each of a power of two once.
static unsigned long place(unsigned long number, unsigned long lines) {
    return number * 2654435761UL % lines;
}

static void displace(void) {
    volatile char *elsewhere = map_at(ELSEWHERE, 1UL << 20);
    for (unsigned long at = 0; at < 1UL << 20; at += LINE)
        (void)elsewhere[at];
}

struct node {
    struct node *volatile next;
    volatile unsigned long word;
};

int main(int count, char **words) {
    if (count < 3)
        return 2;
    unsigned long lines = strtoul(words[2], NULL, 0), passes = count > 3 ? strtoul(words[3], NULL, 0) : 1;
    if (lines < 16 || lines & (lines - 1))
        return 2;
    char *base = map_at(BASE, lines * LINE), *numbers = map_at(BASE + (1UL << 40), lines * 8);
    struct node *first = (struct node *)base, *node = first;
    for (unsigned long i = 0; i < lines; i++) {
        struct node *at = (struct node *)(base + place(i, lines) * LINE);
        at->next = (struct node *)(base + place(i + 1, lines) * LINE);
        at->word = place(i + 1, lines);
        ((volatile unsigned long *)numbers)[i] = place(i, lines);
    }
    displace();
    unsigned long steps = lines * passes, sum = 0, index = 0;
    if (!strcmp(words[1], "follow")) {
        for (unsigned long i = 0; i < steps; i++)
            node = node->next;
    } else if (!strcmp(words[1], "spill")) {
        struct node *volatile spilled = node;
        for (unsigned long i = 0; i < steps; i++)
            spilled = spilled->next;
        node = spilled;
    } else if (!strcmp(words[1], "move")) {
        for (unsigned long i = 0; i < steps; i++)
            __asm__ volatile("mov (%0), %%rcx\n\tmov %%rcx, %0" : "+r"(node) : : "rcx", "memory");
    } else if (!strcmp(words[1], "beside")) {
        for (unsigned long i = 0; i < steps; i++) {
            sum += node->word;
            node = node->next;
        }
    } else if (!strcmp(words[1], "index")) {
        for (unsigned long i = 0; i < steps; i++)
            index = ((struct node *)(base + index * LINE))->word;
    } else if (!strcmp(words[1], "pair")) {
        struct node *other = (struct node *)(base + place(lines / 2, lines) * LINE);
        for (unsigned long i = 0; i < steps / 2; i++) {
            node = node->next;
            other = other->next;
        }
        sum = (unsigned long)other;
    } else if (!strcmp(words[1], "gather")) {
        for (unsigned long i = 0; i < steps; i++)
            sum += ((struct node *)(base + ((volatile unsigned long *)numbers)[i] * LINE))->word;
    } else if (!strcmp(words[1], "array")) {
        for (unsigned long i = 0; i < steps; i++)
            sum += ((struct node *)(base + place(i, lines) * LINE))->word;
    } else {
        return 2;
    }
    // What was loaded is used.
    return (unsigned long)node + sum + index == 1;
}

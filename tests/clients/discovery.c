/* Finds every PMON unit of an Emerald Rapids through discovery, after section 1.10 of the uncore guide, and counts one event in each.
 *
 *   discovery TYPE:CONTROL ...      (unit type; value of the event control register, in hex)
 *
 * Prints a line for each unit: type, id, address space, address of the unit control, count. */

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MSR = 0, MMIO = 1, PCI = 2, MAP_SIZE = 0x80000, DVSEC = 0x23, PMON_ENTRY = 1, MOST_UNITS = 1024 };

struct unit {
    unsigned type, id, space;
    uint64_t control;         /* address of the unit control */
    unsigned control0, counter0, width;
    volatile uint8_t *mapped; /* MMIO only */
    int file;                 /* PCI only */
};

static int msr_file;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static uint32_t config32(int file, unsigned offset)
{
    uint32_t value;
    if (pread(file, &value, 4, offset) != 4)
        die("config");
    return value;
}

static int open_function(unsigned bus, unsigned device, unsigned function)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/bus/pci/%02x/%02x.%x", bus, device, function);
    return open(path, O_RDWR);
}

static volatile uint8_t *map(uint64_t physical, size_t size)
{
    int file = open("/dev/mem", O_RDWR);
    if (file < 0)
        die("/dev/mem");
    uint64_t page = physical & ~0xfffULL;
    uint8_t *mapped = mmap(NULL, size + (physical - page), PROT_READ | PROT_WRITE, MAP_SHARED, file, page);
    if (mapped == MAP_FAILED)
        die("mmap");
    close(file);
    return mapped + (physical - page);
}

/* The physical address of the discovery table that a function's DVSEC leads to, or 0. */
static uint64_t table_of(int file)
{
    for (unsigned at = 0x100; at != 0;) {
        uint32_t header = config32(file, at);
        if (header == 0 || header == 0xffffffff)
            return 0;
        if ((header & 0xffff) == DVSEC && (config32(file, at + 8) & 0xffff) == PMON_ENTRY) {
            unsigned bar = config32(file, at + 12) & 7;
            return config32(file, 0x10 + 4 * bar) & ~0xfffU;
        }
        at = header >> 20;
    }
    return 0;
}

static uint64_t read64(const struct unit *unit, unsigned offset)
{
    uint64_t value = 0;
    if (unit->space == MMIO)
        return *(volatile uint64_t *)(unit->mapped + offset);
    if (unit->space == MSR ? pread(msr_file, &value, 8, unit->control + offset) != 8
                           : pread(unit->file, &value, 8, (unit->control & 0xfff) + offset) != 8)
        die("read");
    return value;
}

static void write32(const struct unit *unit, unsigned offset, uint32_t value)
{
    uint64_t wide = value;
    if (unit->space == MMIO)
        *(volatile uint32_t *)(unit->mapped + offset) = value;
    else if (unit->space == MSR ? pwrite(msr_file, &wide, 8, unit->control + offset) != 8
                                : pwrite(unit->file, &value, 4, (unit->control & 0xfff) + offset) != 4)
        die("write");
}

static uint32_t wanted(int count, char **arguments, unsigned type)
{
    for (int index = 1; index < count; index++) {
        char *end;
        if (strtoul(arguments[index], &end, 10) == type && *end == ':')
            return strtoul(end + 1, NULL, 16);
    }
    return 0;
}

int main(int count, char **arguments)
{
    static struct unit units[MOST_UNITS];
    size_t found = 0;
    msr_file = open("/dev/cpu/0/msr", O_RDWR);
    if (msr_file < 0)
        die("/dev/cpu/0/msr");
    for (unsigned place = 0; place < 1 << 16; place++) {
        int file = open_function(place >> 8, place >> 3 & 31, place & 7);
        if (file < 0)
            continue;
        uint64_t physical = table_of(file);
        close(file);
        if (physical == 0)
            continue;
        volatile uint64_t *table = (volatile uint64_t *)map(physical, MAP_SIZE);
        unsigned stride = table[0] >> 8 & 0xff, blocks = table[0] >> 16 & 0x3ff;
        printf("table %#" PRIx64 " blocks %u global control %#" PRIx64 "\n", physical, blocks, (uint64_t)table[1]);
        for (unsigned block = 1; block <= blocks; block++) {
            volatile uint64_t *record = table + (size_t)block * stride;
            uint64_t layout = record[0], address = record[1], name = record[2];
            if (layout == 0 && address == 0)
                continue;
            struct unit unit = {
                .type = name & 0xffff, .id = name >> 16 & 0xffff, .space = layout >> 62, .control = address,
                .control0 = layout >> 8 & 0xff, .counter0 = layout >> 24 & 0xff, .width = layout >> 16 & 0xff,
            };
            if (unit.space == MMIO)
                unit.mapped = map(address, 0x1000);
            if (unit.space == PCI)
                unit.file = open_function(address >> 20 & 0xff, address >> 15 & 31, address >> 12 & 7);
            if (unit.file < 0)
                die("unit's function");
            if (found < MOST_UNITS)
                units[found++] = unit;
        }
    }
    for (size_t index = 0; index < found; index++) {
        write32(&units[index], 0, 0x301); /* freeze, reset counters and controls */
        write32(&units[index], units[index].control0, wanted(count, arguments, units[index].type));
        write32(&units[index], 0, 0);
    }
    nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
    for (size_t index = 0; index < found; index++) {
        write32(&units[index], 0, 1);
        uint64_t value = read64(&units[index], units[index].counter0);
        static const char *spaces[] = { "msr", "mmio", "pci" };
        printf("%u %u %s %#" PRIx64 " %" PRIu64 "\n", units[index].type, units[index].id, spaces[units[index].space],
               units[index].control, value);
    }
    return 0;
}

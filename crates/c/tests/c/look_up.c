/* Looks names up, and prints what comes back: a line each. */
#include <inttypes.h>
#include <stdio.h>

#include <pericore.h>

int main(void)
{
    struct pericore_event event;
    struct pericore_metric metric;
    enum pericore_code code;

    if (pericore_find_event("e5-2600", "cbo/LLC_VICTIMS.M_STATE/", &event) != PERICORE_CODE_OK)
        return 1;
    printf("%s %s 0x%" PRIx64 " 0x%x\n", event.unit, event.name, event.config, (unsigned)event.counters);
    code = pericore_find_event("e5-2600", "cbo/LLC_VICTIM.M_STATE/", &event);
    printf("%d %s\n", (int)code, pericore_message());
    if (pericore_find_metric("e5-2600", "MEM_BW_READS", &metric) != PERICORE_CODE_OK)
        return 1;
    printf("%s %s %s\n", metric.unit, metric.name, metric.unit_of_measure);
    code = pericore_find_event("e5-2600", NULL, &event);
    printf("%d %s\n", (int)code, pericore_message());
    return 0;
}

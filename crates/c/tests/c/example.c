/* Memory traffic of two steps of a program. */
#include <stdio.h>
#include <stdlib.h>

#include <pericore.h>

static void check(enum pericore_code code)
{
    if (code >= 0)
        return;
    fprintf(stderr, "pericore: %s\n", pericore_message());
    exit(1);
}

int main(void)
{
    struct pericore_session *session;
    struct pericore_figure figure;
    const char *steps[] = {"load", "solve"};

    /* On a Xeon: pericore_open(events, NULL, &session), and the program's work in the place of pericore_run. */
    check(pericore_open_machine("e5-2600", "stream", "imc/CAS_COUNT.RD/", NULL, &session));
    for (int i = 0; i < 2; i++) {
        check(pericore_start(session, steps[i]));
        check(pericore_run(session, 2e-6 * (i + 1)));
        check(pericore_stop(session, steps[i]));
        check(pericore_event_figure(session, steps[i], 0, PERICORE_ALL_SOCKETS, &figure));
        printf("%-6s %6.1f GB/s %s\n", steps[i], 64 * figure.value / figure.seconds / 1e9, figure.reason);
    }
    check(pericore_close(session));
    return 0;
}

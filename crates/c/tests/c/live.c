/* Three regions on the machine that this runs on: each waits for the next line of work, and two threads share one. Ends without closing. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <pericore.h>

static struct pericore_session *session;

static void must(enum pericore_code code, const char *what)
{
    if (code == PERICORE_CODE_OK)
        return;
    fprintf(stderr, "%s: %d: %s\n", what, (int)code, pericore_message());
    exit(1);
}

static void *work(void *seconds)
{
    must(pericore_start(session, "threads"), "start in a thread");
    must(pericore_run(session, *(double *)seconds), "run in a thread");
    must(pericore_stop(session, "threads"), "stop in a thread");
    return NULL;
}

static void print(const char *region)
{
    struct pericore_figure figure;
    size_t i;

    for (i = 0; i < pericore_events(session); i++) {
        must(pericore_event_figure(session, region, i, PERICORE_ALL_SOCKETS, &figure), region);
        printf("%s %s %" PRIu64 " %.9f %d %" PRIu64 "\n", region, figure.name, figure.count, figure.seconds,
               (int)figure.grade, figure.starts);
        if (figure.reason[0])
            fprintf(stderr, "%s %s: %s\n", region, figure.name, figure.reason);
    }
}

int main(int argc, char **argv)
{
    double lengths[2] = {0.02, 0.05};
    pthread_t threads[2];
    int i;

    must(pericore_open(argc > 1 ? argv[1] : "imc/CAS_COUNT.RD/", NULL, &session), "open");
    must(pericore_start(session, "first"), "first");
    must(pericore_run(session, 0.05), "first");
    must(pericore_stop(session, "first"), "first");

    for (i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, &lengths[i]))
            return 2;
    for (i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);

    must(pericore_start(session, "last"), "last");
    must(pericore_run(session, 0.1), "last");
    must(pericore_stop(session, "last"), "last");
    print("first");
    print("threads");
    print("last");
    return 0;
}

/* Three regions of a software machine's time, one of them within another, and their figures: a line each. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <pericore.h>

#define METRICS "MEM_BW_READS,MEM_READ_BANDWIDTH"
#define EVENTS "imc/CAS_COUNT.RD/,imc/CAS_COUNT.WR/,cbo/CLOCKTICKS/"

static int failures;

static void check(enum pericore_code code, enum pericore_code expected, const char *what)
{
    if (code == expected)
        return;
    failures++;
    fprintf(stderr, "%s: %d instead of %d: %s\n", what, (int)code, (int)expected, pericore_message());
}

static void print(struct pericore_session *session, const char *region)
{
    struct pericore_figure figure;
    size_t i;

    for (i = 0; i < pericore_events(session); i++) {
        check(pericore_event_figure(session, region, i, PERICORE_ALL_SOCKETS, &figure), PERICORE_CODE_OK, region);
        printf("%s %s %" PRIu64 " %.12g %d %" PRIu64 "\n", region, figure.name, figure.count, figure.seconds,
               (int)figure.grade, figure.starts);
    }
    for (i = 0; i < pericore_metrics(session); i++) {
        check(pericore_metric_figure(session, region, i, PERICORE_ALL_SOCKETS, &figure), PERICORE_CODE_OK, region);
        printf("%s %s %.12g %s %d\n", region, figure.name, figure.value, figure.unit_of_measure, (int)figure.grade);
    }
}

int main(int argc, char **argv)
{
    struct pericore_session *session = NULL;
    struct pericore_figure figure;
    const char *workload = argc > 1 ? argv[1] : "mixed:read=60,stride=64k,footprint=1G,requests=20000";

    check(pericore_open_machine("e5-2600", workload, EVENTS, METRICS, &session), PERICORE_CODE_OK, "open");
    if (!session)
        return 1;

    /* What passes before the first region is in none. */
    check(pericore_run(session, 1e-6), PERICORE_CODE_OK, "before");

    check(pericore_start(session, "whole"), PERICORE_CODE_OK, "whole");
    check(pericore_start(session, "load"), PERICORE_CODE_OK, "load");
    check(pericore_run(session, 3e-6), PERICORE_CODE_OK, "load");
    check(pericore_stop(session, "load"), PERICORE_CODE_OK, "load");

    /* A region that is started twice is open until it was stopped twice. */
    check(pericore_start(session, "solve"), PERICORE_CODE_OK, "solve");
    check(pericore_run(session, 1e-6), PERICORE_CODE_OK, "solve");
    check(pericore_start(session, "solve"), PERICORE_CODE_OK, "solve");
    check(pericore_run(session, 2e-6), PERICORE_CODE_OK, "solve");
    check(pericore_stop(session, "solve"), PERICORE_CODE_OK, "solve");
    check(pericore_run(session, 1e-6), PERICORE_CODE_OK, "solve");
    check(pericore_stop(session, "solve"), PERICORE_CODE_OK, "solve");
    check(pericore_stop(session, "solve"), PERICORE_CODE_INVALID, "one stop too many");

    /* What is not in a region is in the one around it. */
    check(pericore_start(session, "rest"), PERICORE_CODE_OK, "rest");
    check(pericore_event_figure(session, "rest", 0, PERICORE_ALL_SOCKETS, &figure), PERICORE_CODE_OK, "empty");
    if (figure.count != 0 || figure.seconds != 0)
        failures++;
    /* Nothing in no time is no bandwidth. */
    check(pericore_metric_figure(session, "rest", 1, PERICORE_ALL_SOCKETS, &figure), PERICORE_CODE_NO_NUMBER, "empty");
    if (!isnan(figure.value) || !figure.reason[0] || figure.grade < PERICORE_GRADE_WRAPPED_UNKNOWN)
        failures++;
    check(pericore_run(session, 1.0), PERICORE_CODE_ENDED, "rest");
    check(pericore_run(session, 1.0), PERICORE_CODE_ENDED, "after the end");
    check(pericore_stop(session, "rest"), PERICORE_CODE_OK, "rest");
    check(pericore_stop(session, "whole"), PERICORE_CODE_OK, "whole");

    print(session, "whole");
    print(session, "load");
    print(session, "solve");
    print(session, "rest");

    check(pericore_event_figure(session, "nowhere", 0, PERICORE_ALL_SOCKETS, &figure), PERICORE_CODE_UNKNOWN, "nowhere");
    check(pericore_event_figure(session, "load", 3, PERICORE_ALL_SOCKETS, &figure), PERICORE_CODE_INVALID, "index");
    check(pericore_event_figure(session, "load", 0, 1, &figure), PERICORE_CODE_INVALID, "socket");
    check(pericore_event_figure(session, "load", 0, 0, &figure), PERICORE_CODE_OK, "socket 0");
    check(pericore_run(session, -1.0), PERICORE_CODE_INVALID, "a negative length");
    check(pericore_close(session), PERICORE_CODE_OK, "close");
    check(pericore_close(NULL), PERICORE_CODE_OK, "close nothing");
    check(pericore_open_machine("e5-2600", "no-such", EVENTS, NULL, &session), PERICORE_CODE_UNKNOWN, "workload");
    check(pericore_open_machine("e5-2600", workload, NULL, NULL, &session), PERICORE_CODE_INVALID, "nothing wanted");
    check(pericore_open_machine("e5-2600", workload, EVENTS, NULL, NULL), PERICORE_CODE_INVALID, "no place");
    return failures != 0;
}

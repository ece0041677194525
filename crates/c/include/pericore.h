#ifndef PERICORE_H
#define PERICORE_H

/* Made by cbindgen of crates/c/src: changes belong there. */

#include <stdint.h>

/**
 * In place of a socket: all of them.
 */
#define PERICORE_ALL_SOCKETS -1

/**
 * Bytes that a name takes at most, with its zero at the end.
 */
#define PERICORE_NAME_SIZE 128

/**
 * Bytes that a sentence takes at most, with its zero at the end; longer ones are cut.
 */
#define PERICORE_TEXT_SIZE 512

/**
 * What a call has come to. Negative codes are failures; `pericore_message` has the words.
 */
typedef enum pericore_code {
    /**
     * Done.
     */
    PERICORE_CODE_OK = 0,
    /**
     * The workload of the software machine has ended: no time passes there any more.
     */
    PERICORE_CODE_ENDED = 1,
    /**
     * There is no number: the figure has `NAN`, and the reason.
     */
    PERICORE_CODE_NO_NUMBER = 2,
    /**
     * An argument is not valid: a null pointer, a text that is not UTF-8, an index out of range, a region that is
     * not open.
     */
    PERICORE_CODE_INVALID = -1,
    /**
     * A name is not known: of a family, a machine, a workload, an event, a metric or a region.
     */
    PERICORE_CODE_UNKNOWN = -2,
    /**
     * The counters cannot be used: rights are missing, the processor is not known, or another tool counts.
     */
    PERICORE_CODE_UNAVAILABLE = -3,
    /**
     * Something failed while it counted.
     */
    PERICORE_CODE_FAILED = -4,
} pericore_code;

/**
 * How far a figure can be trusted, best first. From `PERICORE_GRADE_WRAPPED_UNKNOWN` on there is no number.
 */
typedef enum pericore_grade {
    /**
     * Counted all the time.
     */
    PERICORE_GRADE_MEASURED = 0,
    /**
     * Counted part of the time, in turn with others, and scaled up.
     */
    PERICORE_GRADE_SCALED = 1,
    /**
     * A number with a doubt: see the reason.
     */
    PERICORE_GRADE_SUSPECT = 2,
    /**
     * No number: a counter may have wrapped more than once.
     */
    PERICORE_GRADE_WRAPPED_UNKNOWN = 3,
    /**
     * No number: the quotient has none, or nothing was counted.
     */
    PERICORE_GRADE_NOT_DEFINED = 4,
    /**
     * No number: the hardware gave none.
     */
    PERICORE_GRADE_UNREADABLE = 5,
} pericore_grade;

/**
 * Counters that run. All functions may be called from any thread.
 */
typedef struct pericore_session pericore_session;

/**
 * What the catalogue has of an event.
 */
typedef struct pericore_event {
    /**
     * Value of the counter's control register that selects the event, without the enable bit; 0 where `counters` is
     * 0.
     */
    uint64_t config;
    /**
     * The programmable counters that can take it, as a bit mask; 0 for an event of a fixed or free-running counter.
     */
    uint16_t counters;
    /**
     * The unit, such as "imc".
     */
    char unit[PERICORE_NAME_SIZE];
    /**
     * The event as the library writes it: `unit/EVENT.SUBEVENT/`.
     */
    char name[PERICORE_NAME_SIZE];
    /**
     * What it counts.
     */
    char description[PERICORE_TEXT_SIZE];
    /**
     * Section or table of the document that it is from.
     */
    char source[PERICORE_NAME_SIZE];
} pericore_event;

/**
 * What the catalogue has of a metric.
 */
typedef struct pericore_metric {
    /**
     * The unit that it belongs to, such as "imc".
     */
    char unit[PERICORE_NAME_SIZE];
    /**
     * Name.
     */
    char name[PERICORE_NAME_SIZE];
    /**
     * The unit of measure of its value, such as "B" or "B/s".
     */
    char unit_of_measure[PERICORE_NAME_SIZE];
    /**
     * Its formula in terms of events.
     */
    char formula[PERICORE_TEXT_SIZE];
    /**
     * What it tells.
     */
    char description[PERICORE_TEXT_SIZE];
    /**
     * Section or table of the document that it is from.
     */
    char source[PERICORE_NAME_SIZE];
} pericore_metric;

/**
 * What was counted, or evaluated, while a region was open.
 */
typedef struct pericore_figure {
    /**
     * The value in `unit_of_measure`; `NAN` if there is no number.
     */
    double value;
    /**
     * Of an event the exact count; 0 for metrics, and if there is no number.
     */
    uint64_t count;
    /**
     * The standard error of a scaled value; `NAN` if it is not known, 0 for what was counted all the time.
     */
    double standard_error;
    /**
     * Seconds for which the region was open; virtual ones on a software machine.
     */
    double seconds;
    /**
     * The share of that time in which it was counted, above 0 and at most 1.
     */
    double duty;
    /**
     * How often the region was started.
     */
    uint64_t starts;
    /**
     * How far the value can be trusted.
     */
    enum pericore_grade grade;
    /**
     * The event as it was asked for, or the metric.
     */
    char name[PERICORE_NAME_SIZE];
    /**
     * "events" for events; of metrics for example "B" or "B/s".
     */
    char unit_of_measure[PERICORE_NAME_SIZE];
    /**
     * Why the value is not plainly measured; empty if it is.
     */
    char reason[PERICORE_TEXT_SIZE];
} pericore_figure;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Looks an event of a family up: `unit/EVENT.SUBEVENT,key=value/`, `EVENT.SUBEVENT`, or Intel's name for it.
 *
 * `family` is a processor family ("emerald-rapids"), a code of Intel's ("emr"), or a software machine ("8592+").
 * Returns `PERICORE_CODE_UNKNOWN` for names that are not known; `pericore_message` points at them and has the
 * nearest.
 *
 * # Safety
 * `family` and `event` are null or end with a zero; `info` is null or has room for a struct.
 */
enum pericore_code pericore_find_event(const char *family,
                                       const char *event,
                                       struct pericore_event *info);

/**
 * Looks a metric of a family up by name, `METRIC` or `unit/METRIC`. As `pericore_find_event` otherwise.
 *
 * # Safety
 * As `pericore_find_event`.
 */
enum pericore_code pericore_find_metric(const char *family,
                                        const char *metric,
                                        struct pericore_metric *info);

/**
 * The words of this thread's last failure, in UTF-8, never null; valid until the next failure in this thread.
 */
const char *pericore_message(void);

/**
 * The library's version, such as "0.1.0".
 */
const char *pericore_version(void);

/**
 * Starts a region. It is open until it was stopped as often as it was started: by the same thread or by others, so
 * the work of several threads can
 * be one region. Regions may lie in each other or overlap; each has all that was counted while it was open, no
 * matter what caused it.
 *
 * The counters are system-wide: a region has what the whole machine did meanwhile.
 *
 * # Safety
 * `session` is null, or came from an open that succeeded and was not closed since; `name` is null or ends with a
 * zero.
 */
enum pericore_code pericore_start(struct pericore_session *session,
                                  const char *name);

/**
 * Stops a region. Returns `PERICORE_CODE_INVALID` if it is not open.
 *
 * # Safety
 * As `pericore_start`.
 */
enum pericore_code pericore_stop(struct pericore_session *session, const char *name);

/**
 * What an event has counted in a region; of a region that is open, until now. `index` is its place among the events
 * that were asked for, `socket` a
 * number or `PERICORE_ALL_SOCKETS`.
 *
 * Returns `PERICORE_CODE_NO_NUMBER` if there is no number; the figure has the reason.
 *
 * # Safety
 * As `pericore_start`; `figure` is null or has room for a struct.
 */
enum pericore_code pericore_event_figure(struct pericore_session *session,
                                         const char *name,
                                         size_t index,
                                         int32_t socket,
                                         struct pericore_figure *figure);

/**
 * The value of a metric in a region. As `pericore_event_figure` otherwise.
 *
 * # Safety
 * As `pericore_event_figure`.
 */
enum pericore_code pericore_metric_figure(struct pericore_session *session,
                                          const char *name,
                                          size_t index,
                                          int32_t socket,
                                          struct pericore_figure *figure);

/**
 * Begins to count on this machine: through the kernel's driver if it counts all that is wanted, else by registers.
 *
 * `events` is a list as for `pericore stat -e`, `metrics` one as for `-M`; one of them may be null. Registers that
 * are overwritten are put
 * back by `pericore_close`, when the process exits, and by `pericore restore` if it is killed.
 *
 * Returns `PERICORE_CODE_UNAVAILABLE` without rights, without a processor that is known, and while another tool
 * counts.
 *
 * # Safety
 * The texts are null or end with a zero; `session` is null or has room for a pointer.
 */
enum pericore_code pericore_open(const char *events,
                                 const char *metrics,
                                 struct pericore_session **session);

/**
 * Begins to count on a software machine, which belongs to this session alone: time passes there in `pericore_run`,
 * and at no other time.
 *
 * `machine` is a family or a preset with its settings, `workload` what runs there, both as for `pericore stat
 * --machine --workload`. Counts are the
 * same in each run.
 *
 * # Safety
 * As `pericore_open`.
 */
enum pericore_code pericore_open_machine(const char *machine,
                                         const char *workload,
                                         const char *events,
                                         const char *metrics,
                                         struct pericore_session **session);

/**
 * Lets so many seconds pass: on a software machine its workload runs, on this machine the calling thread sleeps.
 *
 * Returns `PERICORE_CODE_ENDED` if the workload has ended before.
 *
 * # Safety
 * `session` is null, or came from an open that succeeded and was not closed since.
 */
enum pericore_code pericore_run(struct pericore_session *session,
                                double seconds);

/**
 * The number of events that were asked for by name.
 *
 * # Safety
 * As `pericore_run`.
 */
size_t pericore_events(const struct pericore_session *session);

/**
 * The number of metrics.
 *
 * # Safety
 * As `pericore_run`.
 */
size_t pericore_metrics(const struct pericore_session *session);

/**
 * Ends counting and puts every register back. The session is gone afterwards, also if that has failed; null is no
 * session and is ignored.
 *
 * # Safety
 * As `pericore_run`; no other call with this session is under way.
 */
enum pericore_code pericore_close(struct pericore_session *session);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PERICORE_H */

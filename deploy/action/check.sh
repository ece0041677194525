#!/usr/bin/env bash
# Checks a PMU tool on a software Xeon. docs/counting/ci.md says how; action.yml runs it in a workflow.
#
#   check.sh accesses MACHINE FILE -- TOOL...                      register accesses are those of FILE
#   check.sh bandwidth MACHINE PATTERN -- TOOL...                  what the tool prints is what there is
#   check.sh broken FAMILY -- TOOL...                              broken machines crash nothing and give no absurd number
#
# PERICORE names the program (else it is looked for on PATH). Status: 0 right, 1 wrong, 2 called wrongly.
set -euo pipefail

pericore=${PERICORE:-pericore}
# What is emitted where bandwidth is checked, in each channel, as `pericore machine run --inject` takes it; the MB/s (10^6
# bytes) that this comes to, which PATTERN must capture; and the per cent by which it may differ: the tool's own timing.
inject=${INJECT:-imc/CAS_COUNT.RD_REG=1000000}
expected=${EXPECTED_MB_S:-256}
within=${WITHIN_PERCENT:-2}
seconds=${TIMEOUT_SECONDS:-120}
# A counter that is read as all ones or wrapped, in decimal, hexadecimal and in powers of ten.
absurd='18446744073709551615|281474976710655|0x[fF]{12}|1\.8[0-9]*e\+?19|(^|[^[:alnum:]])-?(nan|inf)([^[:alnum:]]|$)'

usage() {
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

tool_of() {
    [ "$1" = -- ] && [ $# -gt 1 ] || usage
    shift
    tool=("$@")
}

accesses() {
    local machine=$1 file=$2
    shift 2
    tool_of "$@"
    if [ ! -e "$file" ]; then
        "$pericore" machine run --timeout "$seconds" --machine "$machine" --log "$file" -- "${tool[@]}"
        echo "$file: written; read it, and commit it" >&2
        exit 1
    fi
    "$pericore" machine run --timeout "$seconds" --machine "$machine" --expect "$file" -- "${tool[@]}" || exit 1
}

bandwidth() {
    local machine=$1 pattern=$2 printed found
    shift 2
    tool_of "$@"
    printed=$("$pericore" machine run --timeout "$seconds" --machine "$machine" \
        --inject "$inject" -- "${tool[@]}" 2>&1) || {
        printf '%s\n' "$printed"
        exit 1
    }
    found=$(printf '%s\n' "$printed" | sed -nE "s/.*$pattern.*/\\1/p" | tail -n 1)
    if [ -z "$found" ]; then
        printf '%s\nnothing that was printed has the form %s\n' "$printed" "$pattern" >&2
        exit 1
    fi
    echo "printed $found MB/s, $expected MB/s are there"
    awk -v found="$found" -v expected="$expected" -v within="$within" \
        'BEGIN { off = found - expected; if (off < 0) off = -off; exit !(off <= expected * within / 100) }'
}

broken() {
    local family=$1 fault printed status wrong=0
    shift
    tool_of "$@"
    for fault in hidden=imc3 hidden=imc all-ones=imc0 stuck=imc0/ctr0 denied=msr-write rules=strict; do
        status=0
        printed=$("$pericore" machine run --timeout "$seconds" --machine "$family:$fault" -- "${tool[@]}" 2>&1) || status=$?
        if [ "$status" -ge 128 ] && [ "$status" -ne 255 ]; then
            echo "$fault: ended by a signal (status $status)"
            wrong=1
        elif printf '%s\n' "$printed" | grep -qiE "$absurd"; then
            echo "$fault: prints a number that cannot be: $(printf '%s\n' "$printed" | grep -iEm 1 "$absurd")"
            wrong=1
        else
            echo "$fault: status $status"
        fi
    done
    exit $wrong
}

command -v "$pericore" >/dev/null || {
    echo "there is no $pericore: set PERICORE to the program" >&2
    exit 2
}
[ $# -ge 3 ] || usage
case $1 in
accesses | bandwidth | broken) "$@" ;;
*) usage ;;
esac

# Sourced by the tiers. `step NAME COMMAND...` runs a step and notes how long it took; the table comes at the end, also of a run that fails.

step_names=()
step_seconds=()
under_way=
aside_process=

step() {
    under_way=$1
    printf '\n== %s\n' "$1"
    local begun=$SECONDS
    if "${@:2}"; then
        note_step "$1" $((SECONDS - begun))
    else
        local status=$?
        note_step "$1: FAILED" $((SECONDS - begun))
        exit $status
    fi
}

note_step() {
    step_names+=("$1")
    step_seconds+=("$2")
    under_way=
}

say() { printf '\n== %s\n' "$*"; }

# Steps beside the others: `beside FUNCTION` begins those of a function in what time the machine has left, and `wait_for_those_beside` shows
# what they printed and notes their times when they have ended.
beside() {
    aside=$(mktemp -d)
    # A group of processes of its own, which can be ended as a whole.
    set -m
    (
        set +m
        step_names=() step_seconds=()
        trap note_for_those_who_wait EXIT
        renice -n 19 -p "$BASHPID" >/dev/null
        "$1"
    ) >"$aside/output" 2>&1 &
    aside_process=$!
    set +m
}

note_for_those_who_wait() {
    local index
    for index in "${!step_names[@]}"; do
        echo "${step_seconds[index]} ${step_names[index]}"
    done >"$aside/steps"
}

wait_for_those_beside() {
    local status=0 seconds name
    wait "$aside_process" || status=$?
    aside_process=
    cat "$aside/output"
    while read -r seconds name; do
        note_step "$name, beside others" "$seconds"
    done <"$aside/steps"
    rm -r "$aside"
    [ $status -eq 0 ] || exit $status
}

print_steps() {
    if [ -n "$aside_process" ]; then
        kill -- "-$aside_process" || true
        cat "$aside/output"
        rm -r "$aside"
        note_step "what ran beside others: broken off" 0
    fi
    [ -z "$under_way" ] || note_step "$under_way: broken off" 0
    printf '\n%8s  %s\n' seconds step
    local index
    for index in "${!step_names[@]}"; do
        printf '%8d  %s\n' "${step_seconds[index]}" "${step_names[index]}"
    done
    printf '%8d  in all\n' "$SECONDS"
}
trap print_steps EXIT

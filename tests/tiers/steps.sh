# Sourced by the tiers. `step NAME COMMAND...` runs a step and notes how long it took; the table comes at the end, also of a run that fails.

step_names=()
step_seconds=()
under_way=

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

print_steps() {
    [ -z "$under_way" ] || note_step "$under_way: broken off" 0
    printf '\n%8s  %s\n' seconds step
    local index
    for index in "${!step_names[@]}"; do
        printf '%8d  %s\n' "${step_seconds[index]}" "${step_names[index]}"
    done
    printf '%8d  in all\n' "$SECONDS"
}
trap print_steps EXIT

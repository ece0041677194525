
# Names of events, metrics, machines and units come from the program itself; all else from the above.
_pericore_with_names() {
    local names typed=${COMP_LINE:0:COMP_POINT}
    mapfile -t names < <("${COMP_WORDS[0]}" completions --names "$typed" 2>/dev/null)
    if (( ${#names[@]} == 0 )); then
        _pericore "$@"
        return
    fi
    compopt -o nospace
    # Bash breaks words at = and : and quotation marks, and completes the last part alone.
    typed=${typed##*[[:space:]]}
    if [[ $typed == *[=:\'\"]* ]]; then
        names=("${names[@]#"${typed%"${typed##*[=:\'\"]}"}"}")
    fi
    COMPREPLY=("${names[@]}")
}
complete -F _pericore_with_names -o bashdefault -o default pericore

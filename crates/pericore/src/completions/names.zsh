
# Names of events, metrics, machines and units come from the program itself; all else from the above.
_pericore_with_names() {
    local -a names
    names=("${(@f)$(${words[1]} completions --names "$LBUFFER" 2>/dev/null)}")
    if [[ -z ${names[1]} ]]; then
        _pericore "$@"
        return
    fi
    # Zsh completes the last part of a list in braces alone, where no quotation marks are around it.
    local typed=${LBUFFER##*[[:space:]]}
    if [[ $typed == \{* && $PREFIX != \{* ]]; then
        names=("${(@)names#"${typed%"$PREFIX"}"}")
    fi
    compadd -U -Q -S '' -- $names
}
compdef _pericore_with_names pericore

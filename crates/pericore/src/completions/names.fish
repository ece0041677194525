
# Names of events, metrics, machines and units come from the program itself.
complete -c pericore -f -n 'count (pericore completions --names (commandline -cp) 2>/dev/null) >/dev/null' \
    -a '(pericore completions --names (commandline -cp) 2>/dev/null)'

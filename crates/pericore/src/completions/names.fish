
# Names of events, metrics, machines and units come from the program itself. fish completes an option's value by what is said of the
# option alone.
function __pericore_names
    pericore completions --names (commandline -cp) 2>/dev/null
end
for option in '-s e -l event' '-s M -l metrics' '-l machine' '-l family' '-l unit'
    complete -c pericore (string split ' ' -- $option) -x -a '(__pericore_names)'
end

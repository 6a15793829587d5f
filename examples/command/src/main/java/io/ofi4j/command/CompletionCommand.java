package io.ofi4j.command;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code ofi4j completion}. */
@Command(name = "completion",
        description = "Prints a script with which bash and zsh complete this command's words: 'source <(ofi4j completion)'.")
final class CompletionCommand implements Runnable {
    /** Where picocli's script offers nothing behind the option, in the function of a command. */
    private static final Pattern PROVIDER = Pattern.compile(
            "(?<='-p'\\|'--provider'\\)\n)( *)return(?=\n)|^function _picocli_ofi4j_(\\w+)\\(\\)", Pattern.MULTILINE);
    /**
     * The types of endpoints and the capabilities that a command needs, as {@code ofi4j info} takes them. A command
     * that is not here needs none.
     */
    private static final Map<String, String> NEEDS = Map.of("perf_write", "RDM RMA", "perf_read", "RDM RMA",
            "perf_inject", "RDM RMA", "perf_writedata", "RDM RMA", "perf_msg", "RDM MSG", "perf_tagged", "RDM TAGGED",
            "perf_atomic", "RDM ATOMIC", "perf_save", "RDM RMA", "soak", "RDM RMA");
    /**
     * The names are those of the machine on which a word is completed, and in the form that the shell needs: some have
     * a semicolon in them. A type that was typed before goes before the command's own.
     */
    private static final String FUNCTION = """

            # Offers the providers that have this type of endpoint and these capabilities, as 'ofi4j info' lists them.
            function _ofi4j_providers() {
              local type=$1 capabilities=$2 i
              local options=() names=() line
              for (( i=1; i<COMP_CWORD-1; i++ )); do
                case ${COMP_WORDS[i]} in
                  '-e'|'--endpoint'|'-t'|'--ep-type'|'--ep_type') type=${COMP_WORDS[i+1]} ;;
                esac
              done
              if [ -n "${type}" ]; then options+=(-t "${type}"); fi
              if [ -n "${capabilities}" ]; then options+=(-c "${capabilities}"); fi
              local IFS=$'\\n'
              for line in $("${COMP_WORDS[0]}" info --list "${options[@]}" 2>/dev/null); do
                case ${line} in
                  [a-z]*:) names+=("${line%:}") ;;
                esac
              done
              local word=${COMP_WORDS[COMP_CWORD]}
              case ${word} in
                \\'*|\\"*) # between quotes a name is as it is
                  COMPREPLY=()
                  for line in "${names[@]}"; do
                    case ${line} in
                      "${word:1}"*) COMPREPLY+=("${line}") ;;
                    esac
                  done ;;
                *) COMPREPLY=( $( compReplyArray "${names[@]}" ) ) ;;
              esac
            }
            """;

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine().getOut().print(withProviders(AutoComplete.bash("ofi4j", spec.commandLine().getParent())));
        spec.commandLine().getOut().flush();
    }

    /** {@return picocli's script, with what is offered behind --provider} */
    private static String withProviders(String script) {
        StringBuilder text = new StringBuilder();
        Matcher matcher = PROVIDER.matcher(script);
        String command = "";
        while (matcher.find()) {
            String found = matcher.group();
            if (matcher.group(2) == null) {
                found = matcher.group(1) + ("_ofi4j_providers " + NEEDS.getOrDefault(command, "")).strip() + "\n"
                        + found;
            } else {
                command = matcher.group(2);
            }
            matcher.appendReplacement(text, Matcher.quoteReplacement(found));
        }
        matcher.appendTail(text);
        return text.insert(text.indexOf("\nfunction _complete_ofi4j()"), FUNCTION).toString();
    }
}

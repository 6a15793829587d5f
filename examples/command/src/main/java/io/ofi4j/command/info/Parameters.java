package io.ofi4j.command.info;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.ofi4j.Libfabric;
import io.ofi4j.info.Parameter;
import io.ofi4j.command.CommandFailure;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The environment variables that libfabric and its providers read. */
final class Parameters {
    private final List<Parameter> parameters;

    /**
     * Finds them.
     *
     * @param provider whose they are, or null for all
     * @param filter what is in their names, or null
     */
    Parameters(Libfabric libfabric, String provider, String filter) {
        List<String> prefixes = provider == null
                ? List.of("")
                : Arrays.stream(provider.split(";")).map(Parameters::prefix).toList();
        String part = filter == null ? "" : filter.toUpperCase(Locale.ROOT);
        List<Parameter> ofProvider = libfabric.parameters().stream()
                .filter(parameter -> prefixes.stream().anyMatch(parameter.name()::startsWith)).toList();
        parameters = ofProvider.stream().filter(parameter -> parameter.name().contains(part)).toList();
        if (ofProvider.isEmpty()) {
            throw new CommandFailure("No environment variables of a provider '" + provider + "' are known; "
                    + "the providers are " + String.join(", ", libfabric.providers()) + ".");
        }
        if (parameters.isEmpty()) {
            throw new CommandFailure("No environment variable has '" + filter + "' in its name: -e lists all.");
        }
    }

    /** The variables of ofi_rxm begin with FI_OFI_RXM_. */
    private static String prefix(String provider) {
        return "FI_" + provider.toUpperCase(Locale.ROOT) + "_";
    }

    void print(PrintWriter out, boolean json) {
        if (json) {
            JsonArray array = new JsonArray();
            parameters.forEach(parameter -> array.add(json(parameter)));
            out.println(InfoJson.print(array));
        } else {
            parameters.forEach(parameter -> print(out, parameter));
        }
    }

    /** As fi_info does: what is set can be read by a shell. */
    private static void print(PrintWriter out, Parameter parameter) {
        out.printf("# %s%n# %s%n", parameter.name(), parameter.help().replace("\n", "\n# "));
        parameter.value().ifPresent(value -> out.println(parameter.name() + "=" + value));
        out.println();
    }

    private static JsonObject json(Parameter parameter) {
        JsonObject json = new JsonObject();
        json.addProperty("name", parameter.name());
        json.addProperty("value", parameter.value().orElse(null));
        json.addProperty("help", parameter.help());
        return json;
    }
}

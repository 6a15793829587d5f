package io.ofi4j.examples.info;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.ofi4j.Libfabric;
import io.ofi4j.info.Parameter;
import io.ofi4j.examples.CommandFailure;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The environment variables that libfabric and its providers read. */
final class Parameters {
    private final List<Parameter> parameters;

    Parameters(Libfabric libfabric, String provider) {
        List<String> prefixes = provider == null
                ? List.of("")
                : Arrays.stream(provider.split(";")).map(Parameters::prefix).toList();
        parameters = libfabric.parameters().stream()
                .filter(parameter -> prefixes.stream().anyMatch(parameter.name()::startsWith)).toList();
        if (parameters.isEmpty()) {
            throw new CommandFailure("No environment variables of a provider '" + provider + "' are known; "
                    + "the providers are " + String.join(", ", libfabric.providers()) + ".");
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
            parameters.forEach(parameter -> out.printf("# %s%n%s%s%n%n", parameter.help().replace("\n", "\n# "),
                    parameter.name(), parameter.value().map(value -> "=" + value).orElse(" is not set")));
        }
    }

    private static JsonObject json(Parameter parameter) {
        JsonObject json = new JsonObject();
        json.addProperty("name", parameter.name());
        json.addProperty("value", parameter.value().orElse(null));
        json.addProperty("help", parameter.help());
        return json;
    }
}

package io.ofi4j.command.info;

import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** What there is, a provider's together and nothing twice. */
final class InfoTable {
    private static final List<String> HEAD = List.of("type", "protocol", "addresses", "fabric", "domain");

    private final Libfabric libfabric;
    private final Map<String, Set<List<String>>> rows = new LinkedHashMap<>();

    InfoTable(Libfabric libfabric, List<FabricInfo> infos) {
        this.libfabric = libfabric;
        for (FabricInfo info : infos) {
            rows.computeIfAbsent(info.provider() + " " + info.fabric().providerVersion(),
                    provider -> new LinkedHashSet<>()).add(row(info));
        }
    }

    private static List<String> row(FabricInfo info) {
        return List.of(info.endpoint().type().name(), info.protocolName(), info.addressFormatName(),
                Objects.requireNonNullElse(info.fabric().name(), "-"),
                Objects.requireNonNullElse(info.domain().name(), "-"));
    }

    void print(PrintWriter out) {
        out.println(libfabric);
        String format = format();
        rows.forEach((provider, ofProvider) -> {
            out.printf("%nprovider %s%n", provider);
            out.println(String.format(format, HEAD.toArray()).stripTrailing());
            ofProvider.forEach(row -> out.println(String.format(format, row.toArray()).stripTrailing()));
        });
    }

    private String format() {
        StringBuilder format = new StringBuilder();
        for (int column = 0; column < HEAD.size(); column++) {
            int at = column;
            int width = rows.values().stream().flatMap(Set::stream).mapToInt(row -> row.get(at).length()).max()
                    .orElse(0);
            format.append("  %-").append(Math.max(width, HEAD.get(column).length())).append('s');
        }
        return format.toString();
    }
}

package io.ofi4j.conformance.calls;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.ofi4j.conformance.Outcome;
import io.ofi4j.conformance.Subject;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.Version;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A report of {@code ofi4j verify --json} that lies in core/guide/reports: what one machine saw of one provider of one
 * libfabric.
 *
 * @param file where it lies
 * @param subject what was tried; it has no address and no time
 * @param version of libfabric
 * @param about what it says of the machine and the software
 * @param rows what came of each trial, by its name
 */
record CommittedReport(Path file, Subject subject, Version version, Map<String, String> about, Map<String, Row> rows) {
    static final Path FOLDER = Path.of("../guide/reports");

    private static final String SUFFIX = ".json";

    /** What came of a trial, and why. */
    record Row(String page, Outcome outcome, String text) {}

    /** All of them: by version, and those of one version by the names of their files. */
    static List<CommittedReport> all() {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.filter(file -> file.toString().endsWith(SUFFIX)).map(CommittedReport::read)
                    .sorted(Comparator.comparing(CommittedReport::version).thenComparing(CommittedReport::name))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static CommittedReport read(Path file) {
        JsonObject json;
        try {
            json = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Map<String, String> about = new LinkedHashMap<>();
        json.getAsJsonObject("about").entrySet()
                .forEach(fact -> about.put(fact.getKey(), fact.getValue().getAsString()));
        Map<String, Row> rows = new LinkedHashMap<>();
        for (JsonElement element : json.getAsJsonArray("results")) {
            JsonObject row = element.getAsJsonObject();
            rows.put(row.get("name").getAsString(),
                    new Row(row.get("page").getAsString(), Outcome.valueOf(row.get("outcome").getAsString()),
                            row.has("text") ? row.get("text").getAsString() : ""));
        }
        String[] numbers = about.get("libfabric").split("\\.");
        return new CommittedReport(file,
                new Subject(about.get("provider"), EndpointType.valueOf(about.get("endpoints")), Optional.empty(),
                        Duration.ZERO),
                new Version(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1])), about, rows);
    }

    @Override
    public String toString() { return name(); }

    String name() { return file.getFileName().toString(); }

    /** The column of the tables that it belongs to. */
    String column() { return UpstreamFailures.column(subject); }

    /** The day on which it was made, as 2026-11-29. */
    String day() { return about.get("time").split("T")[0]; }

    /** What the table of calls says of a trial: a mark, or the reason why there is none. */
    String mark(String trial) {
        Row row = rows.get(trial);
        if (row == null) {
            boolean isOfCalls = CallTrials.ALL.containsKey(trial);
            return isOfCalls && !CallTrials.tries(subject, trial) ? CallTable.NOT_TRIED : CallTable.UNKNOWN;
        }
        Optional<String> known = UpstreamFailures.of(trial, subject, version).map(UpstreamFailures.Failure::reason);
        return switch (row.outcome) {
            // what ofi4j does in another way works, and the table says what the provider makes of it
            case WORKS -> known.filter(reason -> NativeTrials.has(trial)).orElse(CallTable.WORKS);
            case NOT_OFFERED -> CallTable.NOT_OFFERED;
            case REFUSED -> known.orElse(CallTable.REFUSED);
            case KNOWN -> known.orElse(row.text);
            case UNTRIED -> CallTable.UNKNOWN;
            case WRONG, ENDED, HUNG -> "Wrong: " + row.text;
        };
    }
}

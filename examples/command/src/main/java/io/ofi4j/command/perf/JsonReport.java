package io.ofi4j.command.perf;

import com.google.gson.JsonObject;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.HdrHistogram.Histogram;

/** One JSON object a line for each row. */
final class JsonReport implements Report {
    private final PrintWriter out;
    private Header header;

    JsonReport(PrintWriter out) { this.out = out; }

    @Override
    public void header(Header common) { header = common; }

    @Override
    public void row(Row row) {
        out.println(json(header, row));
        out.flush();
    }

    static JsonObject json(Header header, Row row) {
        JsonObject json = common(header);
        json.addProperty("size", row.size());
        json.addProperty("operations", row.operations());
        json.addProperty("nsPerOperation", row.nanosecondsPerOperation());
        json.addProperty("p50Ns", row.percentile(50));
        json.addProperty("p99Ns", row.percentile(99));
        json.addProperty("p999Ns", row.percentile(99.9));
        json.addProperty("minNs", row.latencies().getMinValue());
        json.addProperty("meanNs", row.latencies().getMean());
        json.addProperty("maxNs", row.latencies().getMaxValue());
        json.addProperty("stddevNs", row.latencies().getStdDeviation());
        row.fromPost().ifPresent(fromPost -> {
            add(json, "fromPost", fromPost.latencies());
            add(json, "corrected", fromPost.corrected());
        });
        json.addProperty("megabytesPerSecond", row.megabytesPerSecond());
        json.addProperty("megaoperationsPerSecond", row.megaoperationsPerSecond());
        json.addProperty("verified", row.verified().isPresent());
        json.addProperty("verifiedOperations", row.verified().orElse(0));
        json.addProperty("errors", row.errors());
        return json;
    }

    private static void add(JsonObject json, String name, Histogram latencies) {
        json.addProperty(name + "P50Ns", latencies.getValueAtPercentile(50));
        json.addProperty(name + "P99Ns", latencies.getValueAtPercentile(99));
        json.addProperty(name + "P999Ns", latencies.getValueAtPercentile(99.9));
        json.addProperty(name + "MaxNs", latencies.getMaxValue());
    }

    private static JsonObject common(Header header) {
        JsonObject json = new JsonObject();
        json.addProperty("time", Instant.now().truncatedTo(ChronoUnit.MILLIS).toString());
        json.addProperty("host", Header.host());
        json.addProperty("jdk", Runtime.version().toString());
        json.addProperty("operation", header.operation().toString());
        json.addProperty("mode", header.mode());
        json.addProperty("provider", header.traits().provider());
        json.addProperty("libfabric", header.traits().libfabric());
        json.addProperty("fabric", header.traits().fabric());
        json.addProperty("domain", header.traits().domain());
        json.addProperty("endpointType", header.traits().endpointType());
        json.addProperty("threading", header.traits().threading());
        json.addProperty("progress", header.traits().progress());
        json.addProperty("pingPong", header.settings().pingPong());
        json.addProperty("memory", header.memory());
        json.addProperty("window", header.window());
        header.settings().rate().ifPresent(rate -> json.addProperty("rate", rate));
        json.addProperty("bidirectional", header.settings().bidirectional());
        json.addProperty("threads", header.settings().threads());
        return json;
    }
}

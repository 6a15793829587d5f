package io.ofi4j.examples.perf;

import com.google.gson.JsonObject;
import java.io.PrintWriter;

/** One JSON object a line for each row. */
final class JsonReport implements Report {
    private final PrintWriter out;
    private Header header;

    JsonReport(PrintWriter out) { this.out = out; }

    @Override
    public void header(Header common) { header = common; }

    @Override
    public void row(Row row) {
        JsonObject json = common();
        json.addProperty("size", row.size());
        json.addProperty("operations", row.operations());
        json.addProperty("nsPerOperation", row.nanosecondsPerOperation());
        json.addProperty("p50Ns", row.p50());
        json.addProperty("p99Ns", row.p99());
        json.addProperty("p999Ns", row.p999());
        json.addProperty("megabytesPerSecond", row.megabytesPerSecond());
        json.addProperty("megaoperationsPerSecond", row.megaoperationsPerSecond());
        json.addProperty("verified", row.verified().isPresent());
        json.addProperty("verifiedOperations", row.verified().orElse(0));
        json.addProperty("errors", row.errors());
        out.println(json);
        out.flush();
    }

    private JsonObject common() {
        JsonObject json = new JsonObject();
        json.addProperty("operation", header.operation().toString());
        json.addProperty("mode", header.mode());
        json.addProperty("provider", header.info().provider());
        json.addProperty("libfabric", header.libfabric().toString());
        json.addProperty("fabric", header.info().fabric().name());
        json.addProperty("domain", header.info().domain().name());
        json.addProperty("endpointType", header.info().endpoint().type().name());
        json.addProperty("threading", header.threading().name());
        json.addProperty("progress", header.progress().name());
        json.addProperty("window", header.window());
        return json;
    }
}

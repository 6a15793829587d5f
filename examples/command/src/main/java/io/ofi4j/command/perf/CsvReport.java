package io.ofi4j.command.perf;

import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Collectors;

/** A line of names, and one line with the same fields as JSON has for each row; RFC 4180. */
final class CsvReport implements Report {
    private final PrintWriter out;
    private Header header;
    private boolean begun;

    CsvReport(PrintWriter out) { this.out = out; }

    @Override
    public void header(Header common) { header = common; }

    @Override
    public void row(Row row) {
        var fields = JsonReport.json(header, row);
        if (!begun) { out.println(String.join(",", fields.keySet())); }
        begun = true;
        List<String> values = fields.asMap().values().stream().map(value -> value.getAsString()).toList();
        out.println(values.stream().map(CsvReport::quoted).collect(Collectors.joining(",")));
        out.flush();
    }

    private static String quoted(String value) {
        return value.matches("[^,\"\n]*") ? value : '"' + value.replace("\"", "\"\"") + '"';
    }
}

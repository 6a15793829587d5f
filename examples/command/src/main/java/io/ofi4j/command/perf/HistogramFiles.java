package io.ofi4j.command.perf;

import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.WholeFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Also writes the latencies of each row to a file, in microseconds and HdrHistogram's text form. */
record HistogramFiles(Report report, Path file, boolean severalSizes) implements Report {
    private static final double NANOS_PER_MICRO = 1000;

    @Override
    public void header(Header header) { report.header(header); }

    @Override
    public void row(Row row) {
        report.row(row);
        ByteArrayOutputStream text = new ByteArrayOutputStream(); // a PrintStream to the file would not say what fails
        row.latencies().outputPercentileDistribution(new PrintStream(text, true, StandardCharsets.UTF_8),
                NANOS_PER_MICRO);
        try {
            boolean isOneFile = !severalSizes || !WholeFile.isReplaced(file); // a pipe has one after the other
            WholeFile.write(isOneFile ? file : file.resolveSibling(file.getFileName() + "." + row.size()),
                    text.toString(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new CommandFailure("Cannot write the histogram to " + e.getMessage() + ".", e);
        }
    }
}

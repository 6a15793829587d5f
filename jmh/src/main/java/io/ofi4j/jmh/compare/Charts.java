package io.ofi4j.jmh.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;
import org.knowm.xchart.ChartEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;

/** Draws what was measured, C and Java together, as PNG files. */
final class Charts {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 500;
    private static final double BASE = 10;
    private static final double HIGHEST_PERCENTILE = 99.99;
    private static final int STEPS_PER_HALF_DISTANCE = 4;

    private final Path folder;

    /** Charts for a folder, which is made. */
    Charts(Path folder) {
        System.setProperty("java.awt.headless", "true");
        this.folder = folder;
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new BenchFailure("cannot make the folder " + folder + ": " + e.getClass().getSimpleName(), e);
        }
    }

    /** The percentiles of an exchange's round trips. */
    void latency(String libfabric, String provider, ExchangeDuel duel) {
        XYChart chart = chart("Round trip of 8 B between two processes, " + duel.work() + ", " + provider
                + ", libfabric " + libfabric, "one exchange in so many is slower", "microseconds");
        addPercentiles(chart, "C", duel.cTimes());
        addPercentiles(chart, "Java", duel.javaTimes());
        save(chart, "latency-" + duel.work(), provider, libfabric);
    }

    private static void addPercentiles(XYChart chart, String name, Histogram times) {
        List<Double> rarities = new ArrayList<>();
        List<Double> microseconds = new ArrayList<>();
        times.percentiles(STEPS_PER_HALF_DISTANCE).forEach(value -> {
            double percentile = value.getPercentileLevelIteratedTo();
            if (percentile <= HIGHEST_PERCENTILE) {
                rarities.add(100 / (100 - percentile));
                microseconds.add(value.getValueIteratedTo() / 1e3);
            }
        });
        chart.addSeries(name, rarities, microseconds);
    }

    /** The bandwidth of one provider by size. */
    void bandwidth(String libfabric, String provider, List<Row> rows) {
        List<Row> bandwidths = rows.stream()
                .filter(row -> row.provider().equals(provider) && row.operation().equals("bandwidth")).toList();
        if (bandwidths.isEmpty()) { return; }
        XYChart chart = chart("Writes within one process, 16 in flight, " + provider + ", libfabric " + libfabric,
                "bytes an operation", "GB/s");
        addBandwidth(chart, "C", bandwidths, Row::cNs);
        addBandwidth(chart, "Java", bandwidths, Row::javaNs);
        save(chart, "bandwidth", provider, libfabric);
    }

    private static void addBandwidth(XYChart chart, String name, List<Row> rows, ToDoubleFunction<Row> nanoseconds) {
        chart.addSeries(name, rows.stream().map(row -> (double) row.size()).toList(),
                rows.stream().map(row -> row.size() / nanoseconds.applyAsDouble(row)).toList());
    }

    /**
     * What an operation takes by the number of several things.
     *
     * @param times of each thing pairs of the number and the nanoseconds
     */
    void scale(String libfabric, String provider, Map<String, List<double[]>> times) {
        XYChart chart = chart("Write of 8 B with completion, " + provider + ", libfabric " + libfabric, "how many",
                "nanoseconds");
        times.forEach((name, points) -> chart.addSeries(name, points.stream().map(point -> point[0]).toList(),
                points.stream().map(point -> point[1]).toList()));
        chart.getStyler().setLegendPosition(LegendPosition.OutsideE);
        save(chart, "scale", provider, libfabric);
    }

    private static XYChart chart(String title, String xTitle, String yTitle) {
        XYChart chart = new XYChartBuilder().width(WIDTH).height(HEIGHT).title(title).xAxisTitle(xTitle)
                .yAxisTitle(yTitle).build();
        chart.getStyler().setXAxisLogarithmic(true).setYAxisLogarithmic(true)
                .setLegendPosition(LegendPosition.InsideNW);
        return chart;
    }

    /** A logarithmic axis has numbers at powers of ten only: it reaches from one to another. */
    private static void extend(XYChart chart) {
        DoubleSummaryStatistics values = chart.getSeriesCollection().stream()
                .flatMapToDouble(series -> Arrays.stream(series.getYData())).summaryStatistics();
        chart.getStyler().setYAxisMin(Math.pow(BASE, Math.floor(Math.log10(values.getMin()))))
                .setYAxisMax(Math.pow(BASE, Math.ceil(Math.log10(values.getMax()))));
    }

    private void save(XYChart chart, String what, String provider, String libfabric) {
        extend(chart);
        String name = what + "-" + provider.replace(';', '-') + "-" + libfabric;
        try {
            replace(folder.resolve(name + ".png"), ChartEncoder.getBytes(chart, "png"));
        } catch (IOException | LinkageError e) {
            throw new BenchFailure("cannot draw " + name + ": " + e.getMessage()
                    + "; Java draws text with fontconfig, harfbuzz and a font: Debian's fontconfig, libharfbuzz0b and fonts-dejavu-core",
                    e);
        }
    }

    /** The picture is there whole, or as it was before. */
    private static void replace(Path picture, byte[] bytes) throws IOException {
        Path part = picture.resolveSibling("." + picture.getFileName() + "." + ProcessHandle.current().pid() + ".part");
        try {
            Files.move(Files.write(part, bytes), picture, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            part.toFile().delete();
            throw e;
        }
    }
}

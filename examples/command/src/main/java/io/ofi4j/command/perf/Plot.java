package io.ofi4j.command.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.stream.Collectors;

/**
 * Lines over two logarithmic axes, as SVG.
 *
 * @param title above it
 * @param horizontal the axis below
 * @param vertical the axis at the left
 * @param lines at least one, each with a point or more
 */
public record Plot(String title, Axis horizontal, Axis vertical, List<Line> lines) {
    private static final int LEFT = 90;
    private static final int TOP = 40;
    private static final int PLOT_WIDTH = 640;
    private static final int PLOT_HEIGHT = 360;
    private static final int WIDTH = LEFT + PLOT_WIDTH + 130;
    private static final int HEIGHT = TOP + PLOT_HEIGHT + 60;
    private static final int LEGEND_STEP = 16;
    private static final int MOST_MARKS = 10;

    /**
     * An axis.
     *
     * @param title what it has, with the unit
     * @param base the ratio of neighbouring marks, if there are few
     * @param label what is written at a mark
     */
    public record Axis(String title, double base, DoubleFunction<String> label) {}

    /**
     * A line.
     *
     * @param name in the legend, which there is where there are several
     * @param points pairs of numbers above 0
     */
    public record Line(String name, List<double[]> points) {}

    /** From the lowest to the highest value, as powers of the axis's base. */
    private record Scale(int lowest, int highest, double base) {
        static Scale of(double base, double[] values) {
            double least = Double.MAX_VALUE;
            double most = Double.MIN_VALUE;
            for (double value : values) {
                least = Math.min(least, value);
                most = Math.max(most, value);
            }
            int lowest = (int) Math.floor(power(base, least) + 1e-9);
            return new Scale(lowest, Math.max(lowest + 1, (int) Math.ceil(power(base, most) - 1e-9)), base);
        }

        private static double power(double base, double value) { return Math.log(value) / Math.log(base); }

        /** Where a value is, from 0 to 1. */
        double place(double value) {
            return (power(base, value) - lowest) / (highest - lowest);
        }

        List<Double> marks() {
            List<Double> marks = new ArrayList<>();
            int step = Math.ceilDiv(highest - lowest, MOST_MARKS);
            for (int power = lowest; power <= highest; power += step) {
                marks.add(Math.pow(base, power));
            }
            return marks;
        }
    }

    /** {@return the element {@code svg}} */
    String svg() {
        Scale across = Scale.of(horizontal.base, values(0));
        Scale up = Scale.of(vertical.base, values(1));
        StringBuilder svg = new StringBuilder();
        svg.append(format("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' role='img'>%n", WIDTH,
                HEIGHT, WIDTH)).append(format("<title>%s</title>%n", escaped(title)));
        svg.append(text("middle", LEFT + PLOT_WIDTH / 2.0, TOP - 16, title));
        svg.append(text("middle", LEFT + PLOT_WIDTH / 2.0, HEIGHT - 14, horizontal.title));
        svg.append(format("<text text-anchor='middle' transform='translate(18 %d) rotate(-90)'>%s</text>%n",
                TOP + PLOT_HEIGHT / 2, escaped(vertical.title)));
        for (double mark : across.marks()) {
            double x = x(across, mark);
            svg.append(rule(x, TOP, x, TOP + PLOT_HEIGHT))
                    .append(text("middle", x, TOP + PLOT_HEIGHT + 18, horizontal.label.apply(mark)));
        }
        for (double mark : up.marks()) {
            double y = y(up, mark);
            svg.append(rule(LEFT, y, LEFT + PLOT_WIDTH, y))
                    .append(text("end", LEFT - 8, y + 4, vertical.label.apply(mark)));
        }
        for (int number = 0; number < lines.size(); number++) {
            svg.append(line(number, across, up));
        }
        return svg.append("</svg>\n").toString();
    }

    private double[] values(int which) {
        return lines.stream().flatMap(line -> line.points.stream()).mapToDouble(point -> point[which]).toArray();
    }

    private String line(int number, Scale across, Scale up) {
        Line line = lines.get(number);
        String colour = format("hsl(%d 70%% 42%%)", number * 360 / lines.size());
        String points = line.points.stream().map(point -> format("%.1f,%.1f", x(across, point[0]), y(up, point[1])))
                .collect(Collectors.joining(" "));
        String drawn = format("<polyline fill='none' stroke='%s' stroke-width='2' points='%s'/>%n", colour, points);
        if (lines.size() == 1) { return drawn; }
        int y = TOP + 8 + number * LEGEND_STEP;
        int x = LEFT + PLOT_WIDTH + 12;
        return drawn + format("<rect x='%d' y='%d' width='12' height='4' fill='%s'/>%n", x, y - 6, colour)
                + text("start", x + 18, y, line.name);
    }

    private static double x(Scale across, double value) { return LEFT + PLOT_WIDTH * across.place(value); }

    private static double y(Scale up, double value) { return TOP + PLOT_HEIGHT * (1 - up.place(value)); }

    private static String rule(double x1, double y1, double x2, double y2) {
        return format("<line stroke='#ddd' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>%n", x1, y1, x2, y2);
    }

    private static String text(String anchor, double x, double y, String text) {
        return format("<text text-anchor='%s' x='%.1f' y='%.1f'>%s</text>%n", anchor, x, y, escaped(text));
    }

    private static String format(String form, Object... values) { return String.format(Locale.ROOT, form, values); }

    /** {@return the text with what means something in XML replaced} */
    static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    /** {@return a page for a browser that needs no other file} */
    public static String page(String title, String conditions, List<Plot> plots) {
        return """
                <!DOCTYPE html>
                <html lang="en"><head><meta charset="utf-8"><title>%s</title>
                <style>body { font: 14px sans-serif; margin: 2em } svg { font: 12px sans-serif; display: block }</style></head>
                <body><h1>%s</h1>
                <p>%s</p>
                %s</body></html>
                """
                .formatted(escaped(title), escaped(title), escaped(conditions),
                        plots.stream().map(Plot::svg).collect(Collectors.joining()));
    }

    /** {@return a number of bytes with its unit} */
    public static String bytes(double size) {
        String[] units = {"B", "KiB", "MiB", "GiB"};
        int unit = 0;
        double count = size;
        while (unit < units.length - 1 && count >= 1024 && count % 1 == 0) {
            count /= 1024;
            unit++;
        }
        return plain(count) + " " + units[unit];
    }

    /** {@return the number without an exponent, and no more digits than needed} */
    public static String plain(double number) {
        return format("%.6f", number).replaceFirst("\\.?0+$", "");
    }
}

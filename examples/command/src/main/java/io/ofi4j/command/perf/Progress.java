package io.ofi4j.command.perf;

import io.ofi4j.command.Columns;
import io.ofi4j.command.Descriptor;
import java.io.PrintStream;
import java.util.Locale;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarStyle;

/** A progress bar on stderr where that is a terminal; nothing where it is not. It is gone before a row is printed. */
final class Progress implements Ticks {
    private static final int MAX_WIDTH = 79;
    private static final int INTERVAL_MILLIS = 250;

    private final PrintStream err = System.err;
    private final boolean shown;
    /** One less than the terminal has: behind its last column the next line begins. */
    private final int width;
    private ProgressBar bar;

    Progress() { this(Descriptor.ERROR.isTerminal(), Columns.of(Descriptor.ERROR)); }

    private Progress(boolean shown, int columns) {
        this.shown = shown;
        this.width = Math.min(MAX_WIDTH, columns - 1);
    }

    /** {@return one that shows nothing, for all threads but one} */
    static Progress hidden() {
        return new Progress(false, Columns.USUAL);
    }

    void begin(String what, long operations) {
        if (shown) {
            bar = ProgressBar.builder().setTaskName(what).setInitialMax(operations)
                    .setUpdateIntervalMillis(INTERVAL_MILLIS).setStyle(ProgressBarStyle.ASCII)
                    .setConsumer(new DelegatingProgressBarConsumer(text -> err.print("\r" + text), width)).build();
        }
    }

    @Override
    public void advance(long operations) { if (bar != null) { bar.stepBy(operations); } }

    /** So many operations a second, so far. */
    void rate(double operationsPerSecond) {
        if (bar != null) { bar.setExtraMessage(String.format(Locale.ROOT, " %.3g op/s", operationsPerSecond)); }
    }

    void end() {
        if (bar != null) {
            bar.close();
            bar = null;
            err.print("\r" + " ".repeat(width) + "\r");
        }
    }
}

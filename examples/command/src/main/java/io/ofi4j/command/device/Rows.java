package io.ofi4j.command.device;

import java.io.PrintStream;
import java.util.Locale;

/**
 * The rows of a group, which runs in a process of its own: each is said before it begins, so that whoever reads along
 * knows what was going on when the process died. The first so many rows can be left out.
 */
final class Rows {
    static final String BEGIN = "begin\t";
    static final String END = "row\t";
    /** The outcome of a row that is as it should be. */
    static final String GOOD = "ok";
    /** The outcome of a row that ended the process of whoever did it, as in C. */
    static final String ENDS = "ENDS";

    private final PrintStream out;
    private final int skip;
    private int number;

    Rows(PrintStream out, int skip) {
        this.out = out;
        this.skip = skip;
    }

    /** What a row did: it returns what came out, in words, or throws. */
    interface Check {
        Result run() throws Exception;
    }

    /**
     * What came out.
     *
     * @param isGood whether it is what is expected
     * @param words what happened
     * @param microseconds how long one operation took, or NaN
     * @param bytes how many bytes that moved
     */
    record Result(boolean isGood, String words, double microseconds, long bytes) {
        static Result good(String words) { return new Result(true, words, Double.NaN, 0); }

        static Result bad(String words) { return new Result(false, words, Double.NaN, 0); }

        static Result timed(String words, double microseconds, long bytes) {
            return new Result(true, words, microseconds, bytes);
        }

        double gigabytesPerSecond() { return bytes / microseconds / 1000; }
    }

    void row(String name, Check check) {
        if (number++ < skip) { return; }
        out.println(BEGIN + name);
        out.flush();
        Result result;
        String outcome;
        try {
            result = check.run();
            outcome = result.isGood ? GOOD : "FAILED";
        } catch (OtherEndedException e) {
            result = Result.bad(e.getMessage());
            outcome = ENDS;
        } catch (Throwable t) {
            result = Result.bad(words(t));
            outcome = "FAILED";
        }
        out.println(END + name + "\t" + outcome + "\t" + result.words.replaceAll("\\s+", " ") + "\t"
                + (Double.isNaN(result.microseconds)
                        ? "\t"
                        : String.format(Locale.ROOT, "%.3f\t%.4f", result.microseconds, result.gigabytesPerSecond())));
        out.flush();
    }

    static String words(Throwable thrown) {
        return thrown.getClass().getSimpleName() + (thrown.getMessage() == null ? "" : ": " + thrown.getMessage());
    }

    /** A row that must be refused by this exception, whose message has these words. */
    void refused(String name, Class<? extends Throwable> by, String words, Check check) {
        row(name, () -> {
            try {
                Result result = check.run();
                return Result.bad("was not refused: " + result.words);
            } catch (Throwable t) {
                boolean isRight = by.isInstance(t) && String.valueOf(t.getMessage()).contains(words);
                return new Result(isRight, words(t), Double.NaN, 0);
            }
        });
    }

    /** What ends another process, as it does in C. */
    static final class OtherEndedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        OtherEndedException(String words, Throwable cause) { super(words, cause); }
    }

    /** A row whose result is written down, whatever it is, as long as the process lives. */
    void recorded(String name, Check check) {
        row(name, () -> {
            try {
                return Result.good(check.run().words);
            } catch (OtherEndedException e) {
                throw e;
            } catch (Exception e) {
                return Result.good(words(e));
            }
        });
    }
}

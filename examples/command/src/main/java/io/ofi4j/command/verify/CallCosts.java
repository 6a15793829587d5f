package io.ofi4j.command.verify;

import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.run.JavaProcess;
import io.ofi4j.info.EndpointType;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/**
 * What a call costs on this machine, in nanoseconds: of a function of C that does nearly nothing, as Java calls it, and
 * of a poll that finds nothing, which is a call of ofi4j with one of libfabric in it.
 *
 * @param bare a plain call of C
 * @param critical a call of C that no safepoint waits for
 * @param poll an empty poll of a completion queue without endpoints
 */
record CallCosts(double bare, double critical, double poll) {
    private static final List<String> COMPILED = List.of("-XX:TieredStopAtLevel=4");
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final int CALLS = 1_000_000;
    /** The first ones are of code that is not compiled yet. */
    private static final int ROUNDS = 7;
    private static final CompletionHandler NOTHING = (token, flags, length, data) -> {};

    private static final MethodHandle BARE = absolute();
    private static final MethodHandle CRITICAL = absolute(Linker.Option.critical(false));

    /** Calls something so many times. */
    private interface Calls {
        long run(int times) throws Throwable;
    }

    /** In a JVM of its own, which compiles. Empty if it has not measured in time. */
    static Optional<CallCosts> measure(Subject subject) {
        try (JavaProcess process = JavaProcess.start(COMPILED, CallCosts.class,
                List.of(subject.provider(), subject.type().name(), subject.source().orElse("")))) {
            return process.line(LIMIT).map(line -> line.split(" "))
                    .map(words -> new CallCosts(Double.parseDouble(words[0]), Double.parseDouble(words[1]),
                            Double.parseDouble(words[2])));
        } catch (TimeoutException | NumberFormatException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /**
     * Measures.
     *
     * @param arguments provider, type, address or nothing
     */
    public static void main(String[] arguments) throws Throwable {
        Subject subject = new Subject(arguments[0], EndpointType.valueOf(arguments[1]),
                Optional.of(arguments[2]).filter(address -> !address.isEmpty()), LIMIT);
        try (Fabric fabric = Libfabric.load().openFabric(Subject.info(subject.hints()));
                Domain domain = fabric.openDomain();
                CompletionQueue queue = domain.openCompletionQueue()) {
            System.out.println(String.join(" ", text(CallCosts::bare), text(CallCosts::critical), text(times -> {
                long found = 0;
                for (int i = 0; i < times; i++) {
                    found += queue.poll(NOTHING, 1);
                }
                return found;
            })));
        }
    }

    private static long bare(int times) throws Throwable {
        long sum = 0;
        for (int i = 0; i < times; i++) {
            sum += (int) BARE.invokeExact(i);
        }
        return sum;
    }

    private static long critical(int times) throws Throwable {
        long sum = 0;
        for (int i = 0; i < times; i++) {
            sum += (int) CRITICAL.invokeExact(i);
        }
        return sum;
    }

    /** The fastest round. */
    private static String text(Calls calls) throws Throwable {
        double best = Double.MAX_VALUE;
        long results = 0;
        for (int round = 0; round < ROUNDS; round++) {
            long start = System.nanoTime();
            results += calls.run(CALLS);
            best = Math.min(best, (System.nanoTime() - start) / (double) CALLS);
        }
        if (results < 0) { throw new AssertionError(results); } // and so no call can be left out
        return String.format(Locale.ROOT, "%.1f", best);
    }

    @SuppressWarnings("restricted")
    private static MethodHandle absolute(Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find("abs").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT), options);
    }

    /** What a person reads. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT,
                "  a call of C %.1f ns, a critical one %.1f ns, a poll that finds nothing %.1f ns", bare, critical,
                poll);
    }
}

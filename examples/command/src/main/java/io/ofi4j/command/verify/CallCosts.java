package io.ofi4j.command.verify;

import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.JavaProcess;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * What a call costs on this machine, in nanoseconds: of a function of C that does nearly nothing, as Java calls it; of
 * ofi4j alone; and of {@code fi_cq_read} of an empty queue with an endpoint, by ofi4j and without it.
 *
 * @param bare a plain call of C
 * @param critical a call of C that no safepoint waits for
 * @param own a poll of a completion queue without endpoints, which calls nothing of libfabric: ofi4j's own part
 * @param poll an empty poll of a queue with an endpoint; 0 of endpoints with connections
 * @param read a plain call of {@code fi_cq_read} of such a queue; 0 where it could not be opened without ofi4j
 * @param criticalRead a critical one
 */
record CallCosts(double bare, double critical, double own, double poll, double read, double criticalRead) {
    private static final List<String> COMPILED = List.of("-XX:TieredStopAtLevel=4");
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final int ALL = 6;
    private static final int CALLS = 1_000_000;
    /** The first ones are of code that is not compiled yet. */
    private static final int ROUNDS = 7;
    private static final CompletionHandler NOTHING = (token, flags, length, data) -> {};

    private static final MethodHandle BARE = absolute();
    private static final MethodHandle CRITICAL = absolute(Linker.Option.critical(false));

    private static final FunctionDescriptor THREE = FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
    /** As ofi4j calls libfabric: by the address of the function. */
    private static final MethodHandle READ = ofAddress();
    private static final MethodHandle CRITICAL_READ = ofAddress(Linker.Option.critical(false));
    /** What an empty read returns below 0. */
    private static final int EAGAIN = 11;

    /** Calls something so many times. */
    private interface Calls {
        long run(int times) throws Throwable;
    }

    /** In a JVM of its own, which compiles. Empty if it has not measured in time. */
    static Optional<CallCosts> measure(Subject subject) {
        try (JavaProcess process = JavaProcess.startAnswering(COMPILED, CallCosts.class,
                List.of(subject.provider(), subject.type().name(), subject.source().orElse("")))) {
            return process.line(LIMIT).map(line -> line.split(" "))
                    .map(words -> Stream.of(words).mapToDouble(Double::parseDouble).toArray())
                    .map(each -> Arrays.copyOf(each, ALL)) // what was not measured is 0
                    .map(each -> new CallCosts(each[0], each[1], each[2], each[3], each[4], each[5]));
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
        List<String> costs = new ArrayList<>(List.of(text(CallCosts::bare), text(CallCosts::critical)));
        FabricInfo info = Subject.info(subject.hints());
        try (Fabric fabric = Libfabric.load().openFabric(info);
                Domain domain = fabric.openDomain();
                CompletionQueue unread = domain.openCompletionQueue();
                CompletionQueue queue = domain.openCompletionQueue()) {
            costs.add(text(times -> poll(unread, times)));
            if (info.endpoint().type() == EndpointType.RDM) {
                try (AddressVector vector = domain.openAddressVector();
                        Endpoint _ = domain.openEndpoint().bind(vector).bind(queue).enable()) {
                    costs.add(text(times -> poll(queue, times)));
                }
                costs.addAll(bareReads(info));
            }
        }
        JavaProcess.answers().println(String.join(" ", costs));
    }

    private static long poll(CompletionQueue queue, int times) {
        long found = 0;
        for (int i = 0; i < times; i++) {
            found += queue.poll(NOTHING, 1);
        }
        return found;
    }

    /** Plain and critical. */
    private static List<String> bareReads(FabricInfo info) throws Throwable {
        String library = System.getProperty("io.ofi4j.library", "libfabric.so.1");
        try (BareQueue queue = new BareQueue(library, info.provider())) {
            MemorySegment function = queue.read();
            long address = queue.address();
            long entries = queue.entries();
            return List.of(text(times -> {
                long sum = 0;
                for (int i = 0; i < times; i++) {
                    sum += (long) READ.invokeExact(function, address, entries, 1L) + EAGAIN;
                }
                return sum;
            }), text(times -> {
                long sum = 0;
                for (int i = 0; i < times; i++) {
                    sum += (long) CRITICAL_READ.invokeExact(function, address, entries, 1L) + EAGAIN;
                }
                return sum;
            }));
        } catch (NoSuchElementException | IllegalStateException | IllegalArgumentException e) {
            return List.of(); // there is none without hints, or it does not open
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
    private static MethodHandle ofAddress(Linker.Option... options) {
        return Linker.nativeLinker().downcallHandle(THREE, options);
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
        String text = String.format(Locale.ROOT,
                "  a call of C %.1f ns, a critical one %.1f ns; of a poll, ofi4j's own part %.1f ns", bare, critical,
                own);
        if (poll > 0) { text += String.format(Locale.ROOT, "%n  a poll that finds nothing %.1f ns", poll); }
        return read > 0
                ? text + String.format(Locale.ROOT, "; fi_cq_read alone %.1f ns, critical %.1f ns", read, criticalRead)
                : text;
    }
}

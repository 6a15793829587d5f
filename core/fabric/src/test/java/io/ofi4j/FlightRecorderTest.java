package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.errors.ConnectionException;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Listener;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.StackTrace;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.MethodSource;

/** What happens beside the data path can be seen in a recording. */
@Tag("once")
@Timeout(600)
class FlightRecorderTest {
    private static final int LARGE = 32 << 20;
    /** From here on posts and waits are recorded. */
    private static final Duration SLOW = Duration.ofMillis(10);
    /** More than a wait that spins asks before it first looks at the clock. */
    private static final int CALLS_BEFORE_CLOCK = 200;

    /** A call of the test, in the same recording, and by the same clock, as what the library tells of it. */
    @Name("io.ofi4j.test.Call")
    @StackTrace(false)
    private static final class Call extends Event {
        String what;

        static void of(String what, Runnable action) {
            Call call = new Call();
            call.what = what;
            call.begin();
            action.run();
            call.commit();
        }
    }

    /** The events of this library while something runs. */
    private record Seen(List<RecordedEvent> events) {
        static Seen during(Runnable action) {
            try (Recording recording = new Recording()) {
                recording.start();
                action.run();
                recording.stop();
                Path file = Files.createTempFile("ofi4j", ".jfr");
                try {
                    recording.dump(file);
                    return new Seen(RecordingFile.readAllEvents(file));
                } finally {
                    Files.delete(file);
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        /** In the order in which they began. */
        List<RecordedEvent> of(String name) {
            return events.stream().filter(event -> event.getEventType().getName().equals("io.ofi4j." + name))
                    .sorted(Comparator.comparing(RecordedEvent::getStartTime)).toList();
        }

        RecordedEvent one(String name) {
            assertThat(of(name)).as(name).hasSize(1);
            return of(name).getFirst();
        }

        /** An event tells of this call: it began and ended within it. */
        void requireWithin(String what, RecordedEvent event) {
            RecordedEvent call = of("test.Call").stream().filter(one -> one.getString("what").equals(what)).findFirst()
                    .orElseThrow();
            assertThat(event.getStartTime()).as(event.toString()).isBetween(call.getStartTime(), event.getEndTime());
            assertThat(event.getEndTime()).as(event.toString()).isBeforeOrEqualTo(call.getEndTime());
        }
    }

    /** It starts sooner so. */
    @Test
    void aProgramThatNobodyRecordsDoesNotStartTheRecorder() {
        Forked.Result result = Forked.run(Opens.class, "-verbose:class");

        assertThat(result.output()).contains("closed all").doesNotContain("jdk.jfr.internal.TypeLibrary");
    }

    /** Registers, opens and closes. */
    static final class Opens {
        private Opens() {}

        public static void main(String[] arguments) {
            try (Pair pair = new Pair("shm"); MemoryRegion region = pair.domain.allocate(64, Access.WRITE)) {
                System.out.println("opened " + region);
            }
            System.out.println("closed all");
        }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void registrationsAndEndpointsAppear(String provider) {
        Seen seen = Seen.during(() -> {
            try (Pair pair = new Pair(provider)) {
                MemoryRegion[] region = new MemoryRegion[1];
                Call.of("allocate", () -> region[0] = pair.domain.allocate(12_345, Access.REMOTE_READ));
                Call.of("close", region[0]::close);
            }
        });

        String name = TestProviders.info(provider).provider();
        for (String what : List.of("MemoryRegistration", "MemoryDeregistration")) {
            RecordedEvent event = seen.one(what);
            assertThat(event.getLong("length")).isEqualTo(12_345);
            assertThat(event.getString("access")).isEqualTo("[REMOTE_READ]");
            assertThat(event.getString("provider")).isEqualTo(name);
        }
        assertThat(seen.one("MemoryRegistration").getDuration()).isPositive();
        assertThat(seen.one("MemoryDeregistration").getDuration()).isPositive();
        seen.requireWithin("allocate", seen.one("MemoryRegistration"));
        seen.requireWithin("close", seen.one("MemoryDeregistration"));
        assertThat(seen.one("MemoryRegistration").getEndTime())
                .isBeforeOrEqualTo(seen.one("MemoryDeregistration").getStartTime());
        assertThat(seen.of("EndpointEnabled")).hasSize(2);
        assertThat(seen.of("EndpointClosed")).hasSize(2).allMatch(event -> event.getString("provider").equals(name))
                .allMatch(event -> event.getDuration().isPositive())
                .allMatch(event -> !event.getStartTime().isBefore(seen.one("MemoryDeregistration").getEndTime()));
        assertThat(seen.of("OperationsCanceled")).isEmpty();
        assertThat(seen.of("ConnectionMade")).hasSize(provider.startsWith("MSG") ? 2 : 0);
        assertThat(seen.of("ConnectionEnded")).hasSize(provider.startsWith("MSG") ? 2 : 0);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void connectionsThatDoNotComeAboutAppear(String provider) {
        Seen seen = Seen.during(() -> {
            try (Listener listener = new Listener(provider)) {
                Endpoint client = listener.client();
                client.connection().connect(listener.passive.address());
                listener.request().reject((byte) 7);
                assertThatThrownBy(() -> client.connection().awaitConnected(Pair.DEADLINE))
                        .isInstanceOf(ConnectionException.class);
            }
        });

        assertThat(seen.one("ConnectionRefused").getInt("errno")).isEqualTo(111);
        assertThat(seen.one("ConnectionRefused").getString("text")).containsIgnoringCase("refused");
        assertThat(seen.of("ConnectionMade")).isEmpty();
        assertThat(seen.of("ConnectionEnded")).isEmpty();
        assertThat(seen.one("FabricException").getInt("errno")).isEqualTo(111);
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#connected")
    void aRejectionWithoutDataIsOneException(String provider) {
        Seen seen = Seen.during(() -> {
            try (Listener listener = new Listener(provider)) {
                Endpoint client = listener.client();
                client.connection().connect(listener.passive.address());
                listener.request().reject();
                assertThatThrownBy(() -> client.connection().awaitConnected(Pair.DEADLINE))
                        .isInstanceOf(ConnectionException.class);
            }
        });

        assertThat(seen.one("FabricException").getInt("errno")).isEqualTo(111);
    }

    @Test
    void operationsThatClosingCancelsAppear() {
        int[] canceled = new int[1];
        Seen seen = Seen.during(() -> { // ofi_rxd does not report what its closing ends
            try (Pair pair = new Pair("udp;ofi_rxd");
                    MemoryRegion source = pair.domain.allocate(LARGE, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(LARGE, Access.REMOTE_WRITE)) {
                pair.rma().write(source.slice(0, 8), pair.far, target.remote(), 1);
                pair.awaitCompletions(1); // from now on nobody looks after the target
                for (int token = 2; token <= 4; token++) {
                    pair.rma().tryWrite(source, 0, LARGE, pair.far, target.remote(), 0, token);
                }
                Call.of("close", pair.endpoint::close);
                pair.awaitCompletions(4);
                canceled[0] = pair.endpoint.statistics().canceled();
            }
        });

        assertThat(canceled[0]).isEqualTo(3);
        RecordedEvent closed = seen.of("EndpointClosed").getFirst();
        seen.requireWithin("close", closed);
        assertThat(seen.one("OperationsCanceled").getInt("operations")).isEqualTo(canceled[0]);
        assertThat(seen.one("OperationsCanceled").getStartTime()).as("it is a part of closing")
                .isBetween(closed.getStartTime(), closed.getEndTime());
        assertThat(seen.of("CompletionError")) // the target's queue may have one, too
                .filteredOn(event -> event.getString("text").equals("the endpoint was closed")).hasSize(canceled[0])
                .allMatch(event -> event.getInt("errno") == 125 && event.getLong("token") > 0);
    }

    @Test
    void operationsThatThePeerRefusesAppearWithItsReason() {
        Seen seen = Seen.during(() -> {
            try (Pair pair = new Pair("sockets");
                    MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_READ)) {
                RemoteRegion mayBeRead = target.remote();
                RemoteRegion forged = new RemoteRegion(mayBeRead.base(), mayBeRead.length(), mayBeRead.key(),
                        Access.ALL);
                pair.rma().write(source.slice(0, 8), pair.far, forged, 7);
                pair.awaitCompletions(1);
            }
        });

        assertThat(seen.of("CompletionError")).anySatisfy(event -> {
            assertThat(event.getString("provider")).isEqualTo("sockets");
            assertThat(event.getLong("token")).isEqualTo(7);
            assertThat(event.getInt("errno")).isEqualTo(13);
            assertThat(event.getString("text")).isNotBlank();
        });
    }

    @Test
    void anErrorThatAPollThrowsIsOneEvent() {
        Seen seen = Seen.during(() -> {
            try (Pair pair = new Pair(TestProviders.hints("shm").capabilities(Capability.MSG));
                    MemoryRegion region = pair.domain.allocate(8, Access.RECEIVE)) {
                pair.endpoint.messages().receive(region.slice(0, 8), 7);
                pair.endpoint.messages().cancel(7);
                assertThatThrownBy(() -> pair.queue.await((t, f, l, d) -> {}, 1, Pair.DEADLINE))
                        .isInstanceOf(FabricException.class).hasMessageContaining("token 7");
            }
        });

        assertThat(seen.one("CompletionError").getLong("token")).isEqualTo(7);
        assertThat(seen.of("FabricException")).isEmpty();
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void operationsThatNeedNotWaitGiveNoEvent(String provider) {
        int operations = 100;
        Seen seen = Seen.during(() -> {
            try (Pair pair = new Pair(provider);
                    MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
                for (int token = 1; token <= operations; token++) {
                    pair.rma().write(source.slice(0, 8), pair.far, target.remote(), token);
                    pair.awaitCompletions(token);
                }
                assertThat(pair.errors).isEmpty();
            }
        });

        // slow posts and waits come when the machine is busy
        assertThat(seen.events().stream().map(event -> event.getEventType().getName())
                .filter(name -> name.startsWith("io.ofi4j.") && !name.contains(".Slow")).toList())
                .as("what opening and closing gives").hasSizeLessThan(operations / 4);
    }

    @Test
    void aSlowPostThatIsAcceptedAppears() {
        CompletionQueueAttributes one = CompletionQueueAttributes.defaults().size(1);
        Seen seen = Seen.during(() -> {
            try (Pair pair = new Pair(TestProviders.hints("tcp;ofi_rxm"), one);
                    Pair other = new Pair("tcp;ofi_rxm"); // whose progress is nobody else's
                    MemoryRegion source = pair.domain.allocate(LARGE, Access.WRITE);
                    MemoryRegion target = other.domain.allocate(LARGE, Access.REMOTE_WRITE)) {
                Peer peer = pair.vector.insert(other.endpoint.address());
                connect(pair, other, peer, source, target.remote());
                pair.rma().write(source.slice(0, LARGE), peer, target.remote(), 1);
                AtomicBoolean over = new AtomicBoolean();
                Thread serving = serveOnceItWaits(Thread.currentThread(), other, over);
                Call.of("write", () -> pair.rma().write(source.slice(0, LARGE), peer, target.remote(), 2));
                pair.awaitCompletions(3);
                over.set(true);
                join(serving);
            }
        });

        RecordedEvent event = seen.of("SlowPost").getLast();
        assertThat(event.getString("provider")).isEqualTo("tcp;ofi_rxm");
        assertThat(event.getString("operation")).isEqualTo("fi_write");
        assertThat(event.getInt("attempts")).isPositive();
        assertThat(event.getBoolean("accepted")).isTrue();
        assertThat(event.getDuration()).isGreaterThan(SLOW);
        seen.requireWithin("write", event);
    }

    private static void connect(Pair pair, Pair other, Peer peer, MemoryRegion source, RemoteRegion target) {
        boolean[] posted = new boolean[1];
        Waiting.YIELD.until(() -> {
            posted[0] = posted[0] || pair.rma().tryWrite(source, 0, 8, peer, target, 0, 0);
            other.pollNear();
            pair.pollNear();
            return !pair.completed.isEmpty();
        }, Pair.DEADLINE);
    }

    /** Makes progress for a pair when a thread has waited for room for longer than a post that is not slow. */
    private static Thread serveOnceItWaits(Thread posting, Pair pair, AtomicBoolean over) {
        return Thread.ofPlatform().daemon().start(() -> {
            Waiting.YIELD.until(() -> Stream.of(posting.getStackTrace())
                    .anyMatch(frame -> frame.getClassName().equals(Endpoint.class.getName())
                            && frame.getMethodName().equals("awaitRoom")),
                    Pair.DEADLINE);
            long begin = System.nanoTime();
            Waiting.YIELD.until(() -> System.nanoTime() - begin > 2 * SLOW.toNanos(), Pair.DEADLINE);
            while (!over.get()) {
                pair.pollNear();
            }
        });
    }

    private static void join(Thread thread) {
        try {
            assertThat(thread.join(Pair.DEADLINE)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aPostThatIsNotAcceptedInTimeAppears() {
        Duration timeout = Duration.ofMillis(15);
        CompletionQueueAttributes one = CompletionQueueAttributes.defaults().size(1);
        Seen seen = Seen.during(() -> {
            try (Pair pair = new Pair(TestProviders.hints("udp;ofi_rxd"), one); // nobody looks after the target
                    MemoryRegion source = pair.domain.allocate(LARGE, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(LARGE, Access.REMOTE_WRITE)) {
                pair.rma().write(source.slice(0, LARGE), pair.far, target.remote(), 1);
                pair.endpoint.postTimeout(timeout);
                Call.of("write",
                        () -> assertThatThrownBy(
                                () -> pair.rma().write(source.slice(0, LARGE), pair.far, target.remote(), 2))
                                .isInstanceOf(FabricTimeoutException.class));
            }
        });

        RecordedEvent event = seen.of("SlowPost").getLast(); // on a busy machine the first may have been slow, too
        assertThat(event.getString("provider")).isEqualTo("udp;ofi_rxd");
        assertThat(event.getBoolean("accepted")).isFalse();
        assertThat(event.getDuration()).as("by another clock than the time limit")
                .isGreaterThan(timeout.minusMillis(1));
        seen.requireWithin("write", event);
        assertThat(seen.of("FabricException")).anyMatch(thrown -> thrown.getString("operation").equals("fi_write")
                && thrown.getString("message").contains("1 operations are in flight"));
    }

    @Test
    void longWaitsAppearAndShortOnesDoNot() {
        Duration time = Duration.ofMillis(30);
        Seen seen = Seen.during(() -> {
            try (Pair pair = new Pair("sockets"); EventQueue events = pair.fabric.openEventQueue()) {
                pair.queue.await((t, f, l, d) -> {}, 1, Duration.ofMillis(1));
                Call.of("await on CompletionQueue of sockets",
                        () -> assertThat(pair.queue.await((t, f, l, d) -> {}, 1, time)).isZero());
                Call.of("Waiting.SPIN", () -> Waiting.SPIN.until(longEnough(), Pair.DEADLINE));
                Call.of("reading events",
                        () -> assertThatThrownBy(() -> events.read(time)).isInstanceOf(FabricTimeoutException.class));
            }
        });

        List<RecordedEvent> waits = seen.of("SlowWait");
        assertThat(waits).as("a busy machine may make the short one long").hasSizeBetween(3, 4)
                .allMatch(event -> event.getDuration().compareTo(SLOW) >= 0);
        List<RecordedEvent> longOnes = waits.subList(waits.size() - 3, waits.size());
        assertThat(longOnes).extracting(event -> event.getString("operation"))
                .containsExactly("await on CompletionQueue of sockets", "Waiting.SPIN", "reading events");
        for (RecordedEvent event : longOnes) {
            assertThat(event.getDuration()).as("by another clock than the time limit")
                    .isGreaterThan(time.minusMillis(1));
            seen.requireWithin(event.getString("operation"), event);
            assertThat(event.getStackTrace()).isNotNull();
        }
    }

    /** True when a wait that spins has been recorded for longer than it takes to appear; it looks at the clock late. */
    private static BooleanSupplier longEnough() {
        int[] calls = new int[1];
        long[] since = new long[1];
        return () -> {
            if (++calls[0] == CALLS_BEFORE_CLOCK) { since[0] = System.nanoTime(); }
            return calls[0] > CALLS_BEFORE_CLOCK && System.nanoTime() - since[0] > 3 * SLOW.toNanos();
        };
    }
}

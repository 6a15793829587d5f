package io.ofi4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.info.CompletionQueueAttributes;
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
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What happens beside the data path can be seen in a recording. */
@Timeout(120)
class FlightRecorderTest {
    private static final int LARGE = 32 << 20;
    /** From here on waits are recorded. */
    private static final Duration SLOW_WAIT = Duration.ofMillis(10);
    private static final Duration ON_A_BUSY_MACHINE = Duration.ofMillis(20);

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
    }

    /** An event lasts as long as the call that it tells of, but for what a busy machine adds to that. */
    private static void requireDuration(RecordedEvent event, Duration ofCall) {
        assertThat(event.getDuration()).as(event.toString()).isBetween(ofCall.dividedBy(2).minus(ON_A_BUSY_MACHINE),
                ofCall);
    }

    /** How long a call takes, and two percent for the recorder, which reads another clock. */
    private static Duration time(Runnable call) {
        long start = System.nanoTime();
        call.run();
        long nanos = System.nanoTime() - start;
        return Duration.ofNanos(nanos + nanos / 50);
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

    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void registrationsAndEndpointsAppear(String provider) {
        Duration[] took = new Duration[2];
        Seen seen = Seen.during(() -> {
            try (Pair pair = new Pair(provider)) {
                MemoryRegion[] region = new MemoryRegion[1];
                took[0] = time(() -> region[0] = pair.domain.allocate(12_345, Access.REMOTE_READ));
                took[1] = time(region[0]::close);
            }
        });

        String name = TestProviders.info(provider).provider();
        for (String what : List.of("MemoryRegistration", "MemoryDeregistration")) {
            RecordedEvent event = seen.one(what);
            assertThat(event.getLong("length")).isEqualTo(12_345);
            assertThat(event.getString("access")).isEqualTo("[REMOTE_READ]");
            assertThat(event.getString("provider")).isEqualTo(name);
        }
        assertThat(seen.one("MemoryRegistration").getDuration()).isPositive().isLessThanOrEqualTo(took[0]);
        assertThat(seen.one("MemoryDeregistration").getDuration()).isPositive().isLessThanOrEqualTo(took[1]);
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

    @ParameterizedTest
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

    @Test
    void operationsThatClosingCancelsAppear() {
        int[] canceled = new int[1];
        Duration[] took = new Duration[1];
        Seen seen = Seen.during(() -> { // ofi_rxd does not report what its closing ends
            try (Pair pair = new Pair("udp;ofi_rxd");
                    MemoryRegion source = pair.domain.allocate(LARGE, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(LARGE, Access.REMOTE_WRITE)) {
                pair.rma().write(source, 0, 8, pair.far, target.remote(), 0, 1);
                pair.awaitCompletions(1); // from now on nobody looks after the target
                for (int token = 2; token <= 4; token++) {
                    pair.rma().tryWrite(source, 0, LARGE, pair.far, target.remote(), 0, token);
                }
                took[0] = time(pair.endpoint::close);
                pair.awaitCompletions(4);
                canceled[0] = pair.endpoint.statistics().canceled();
            }
        });

        assertThat(canceled[0]).isEqualTo(3);
        requireDuration(seen.of("EndpointClosed").getFirst(), took[0]);
        assertThat(seen.one("OperationsCanceled").getInt("operations")).isEqualTo(canceled[0]);
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
                pair.rma().write(source, 0, 8, pair.far, forged, 0, 7);
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

    @ParameterizedTest
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void operationsThatNeedNotWaitGiveNoEvent(String provider) {
        int operations = 100;
        Seen seen = Seen.during(() -> {
            try (Pair pair = new Pair(provider);
                    MemoryRegion source = pair.domain.allocate(8, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(8, Access.REMOTE_WRITE)) {
                for (int token = 1; token <= operations; token++) {
                    pair.rma().write(source, 0, 8, pair.far, target.remote(), 0, token);
                    pair.awaitCompletions(token);
                }
                assertThat(pair.errors).isEmpty();
            }
        });

        assertThat(seen.events().stream().map(event -> event.getEventType().getName())
                .filter(name -> name.startsWith("io.ofi4j.") && !name.contains(".Slow")).toList()) // as a busy machine is
                .as("what opening and closing gives").hasSizeLessThan(operations / 4);
    }

    @Test
    void slowPostsAppearWithTheirOutcome() {
        Duration timeout = Duration.ofMillis(15);
        Duration[] took = new Duration[2];
        Seen seen = Seen.during(() -> {
            CompletionQueueAttributes one = CompletionQueueAttributes.defaults().size(1);
            try (Pair pair = new Pair(TestProviders.hints("tcp;ofi_rxm"), one);
                    MemoryRegion source = pair.domain.allocate(LARGE, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(LARGE, Access.REMOTE_WRITE)) {
                pair.rma().write(source, 0, LARGE, pair.far, target.remote(), 0, 1);
                took[0] = time(() -> pair.rma().write(source, 0, LARGE, pair.far, target.remote(), 0, 2));
                pair.awaitCompletions(2);
            }
            try (Pair pair = new Pair(TestProviders.hints("udp;ofi_rxd"), one); // nobody looks after the target there
                    MemoryRegion source = pair.domain.allocate(LARGE, Access.WRITE);
                    MemoryRegion target = pair.domain.allocate(LARGE, Access.REMOTE_WRITE)) {
                pair.rma().write(source, 0, LARGE, pair.far, target.remote(), 0, 1);
                pair.endpoint.postTimeout(timeout);
                took[1] = time(() -> assertThatThrownBy(
                        () -> pair.rma().write(source, 0, LARGE, pair.far, target.remote(), 0, 2))
                        .isInstanceOf(FabricTimeoutException.class));
            }
        });

        assertThat(seen.of("SlowPost")).anySatisfy(event -> {
            assertThat(event.getString("provider")).isEqualTo("tcp;ofi_rxm");
            assertThat(event.getString("operation")).isEqualTo("fi_write");
            assertThat(event.getInt("attempts")).isPositive();
            assertThat(event.getBoolean("accepted")).isTrue();
            requireDuration(event, took[0]);
        }).anySatisfy(event -> {
            assertThat(event.getString("provider")).isEqualTo("udp;ofi_rxd");
            assertThat(event.getBoolean("accepted")).isFalse();
            assertThat(event.getDuration()).isBetween(timeout.minusMillis(1), took[1]);
        });
        assertThat(seen.of("FabricException")).anyMatch(event -> event.getString("operation").equals("fi_write")
                && event.getString("message").contains("as it has room for, 1"));
    }

    @Test
    void longWaitsAppearAndShortOnesDoNot() {
        Duration time = Duration.ofMillis(30);
        Duration[] took = new Duration[4];
        Seen seen = Seen.during(() -> {
            try (Pair pair = new Pair("sockets"); EventQueue events = pair.fabric.openEventQueue()) {
                took[0] = time(() -> pair.queue.await((t, f, l, d) -> {}, 1, Duration.ofMillis(1)));
                took[1] = time(() -> assertThat(pair.queue.await((t, f, l, d) -> {}, 1, time)).isZero());
                took[2] = time(() -> assertThat(Waiting.SPIN.tryUntil(() -> false, time)).isFalse());
                took[3] = time(
                        () -> assertThatThrownBy(() -> events.read(time)).isInstanceOf(FabricTimeoutException.class));
            }
        });

        List<RecordedEvent> waits = seen.of("SlowWait");
        if (waits.size() == 4 && took[0].compareTo(SLOW_WAIT) >= 0) { // the machine was so busy that the short one was long
            waits = waits.subList(1, 4);
        }
        assertThat(waits).extracting(event -> event.getString("operation"))
                .containsExactly("await on CompletionQueue of sockets", "Waiting.SPIN", "reading events");
        for (int i = 0; i < waits.size(); i++) {
            assertThat(waits.get(i).getDuration()).isBetween(time.minus(SLOW_WAIT), took[i + 1]);
            assertThat(waits.get(i).getStackTrace()).isNotNull();
        }
    }
}

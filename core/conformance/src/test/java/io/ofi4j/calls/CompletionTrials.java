package io.ofi4j.calls;

import static io.ofi4j.calls.Trial.LENGTH;
import static io.ofi4j.calls.Trial.TOKEN;
import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.CompletionHandler;
import io.ofi4j.DetailedCompletionHandler;
import io.ofi4j.Libfabric;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.WaitObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Trials of the calls of fi_cq(3), and of fi_trywait of fi_poll(3). */
final class CompletionTrials {
    private static final long DATA = 0x1234;
    private static final CompletionHandler NOTHING = (token, flags, length, data) -> {};

    /** What a handler was told. */
    private record Told(long token, long flags, long data, long source) {}

    private CompletionTrials() {}

    static void addTo(Map<String, CallTrial> all) {
        for (CompletionFormat format : CompletionFormat.values()) {
            all.put("fi_cq_read, " + format,
                    CallTrial.of(CompletionQueueAttributes.defaults().format(format), t -> readEach(t, format)));
        }
        all.put("fi_cq_readfrom", CallTrial.of(CallTrial.capability(Capability.SOURCE), CompletionTrials::readFrom));
        all.put("fi_cq_readerr, fi_cq_strerror", CallTrial.of(CompletionTrials::readError));
        all.put("blocking read, UNSPEC", of(WaitObject.UNSPECIFIED, CompletionTrials::await));
        all.put("blocking read, FD", of(WaitObject.FD, CompletionTrials::await));
        all.put("blocking read, YIELD", of(WaitObject.YIELD, CompletionTrials::await));
        all.put("blocking read, signal", of(WaitObject.UNSPECIFIED, CompletionTrials::signal));
        all.put("fi_trywait, fi_control: GETWAIT", of(WaitObject.FD, CompletionTrials::tryWait));
    }

    private static CallTrial of(WaitObject object, CallTrial.Body body) {
        CompletionQueueAttributes attributes = CompletionQueueAttributes.defaults().waitObject(object);
        return CallTrial.of(attributes, body);
    }

    private static DetailedCompletionHandler into(List<Told> told) {
        return (token, flags, length, data, buffer, tag, source) -> told.add(new Told(token, flags, data, source));
    }

    /** What both ends are told of a write with data, the near one first. */
    private static List<Told> tell(Trial t) {
        List<Told> near = new ArrayList<>();
        List<Told> far = new ArrayList<>();
        t.rma().writeData(t.here.slice(0, LENGTH), DATA, t.pair.far, t.there.remote(), TOKEN);
        Waiting.YIELD.until(() -> {
            t.pair.queue.poll(into(near), LENGTH);
            t.pair.farQueue.poll(into(far), LENGTH);
            return !near.isEmpty() && !far.isEmpty();
        }, t.deadline);
        return List.of(near.getFirst(), far.getFirst());
    }

    private static void readEach(Trial t, CompletionFormat format) {
        List<Told> told = tell(t);
        assertThat(told.getFirst().token).isEqualTo(TOKEN);
        boolean hasFlags = format != CompletionFormat.CONTEXT;
        assertThat(told.getLast().flags & CompletionFlags.REMOTE_CQ_DATA).as("whether it has data")
                .isEqualTo(hasFlags ? CompletionFlags.REMOTE_CQ_DATA : 0);
        assertThat(told.getLast().data).isEqualTo(format.compareTo(CompletionFormat.DATA) >= 0 ? DATA : 0);
    }

    private static void readFrom(Trial t) {
        Peer near = t.vector().insert(t.pair.endpoint.address());
        assertThat(tell(t).getLast().source).as("the source").isEqualTo(near.fabricAddress());
    }

    /** With a key that nobody has. */
    private static void readError(Trial t) {
        RemoteRegion there = t.there.remote();
        RemoteRegion wrong = new RemoteRegion(there.base(), LENGTH, ~there.key(), Access.REMOTE_READ.bit());
        t.rma().read(t.here.slice(0, LENGTH), t.pair.far, wrong, TOKEN);
        t.pair.awaitCompletions(1, t.deadline);
        assertThat(t.pair.errors).as("the errors").singleElement().satisfies(error -> {
            assertThat(error.token()).isEqualTo(TOKEN);
            assertThat(error.errno()).isPositive();
            assertThat(error.toString()).isNotBlank();
            // verbs of libfabric 1.x alone adds what the device says; none of shm, tcp, net, sockets, ofi_rxm and
            // ofi_rxd does
            boolean adds = t.pair.domain.info().provider().equals("verbs") && Libfabric.load().version().major() < 2;
            assertThat(error.providerData()).hasSize(adds ? Integer.BYTES : 0);
        });
    }

    private static void await(Trial t) throws InterruptedException {
        List<Long> tokens = new ArrayList<>();
        t.rma().write(t.here.slice(0, LENGTH), t.pair.far, t.there.remote(), TOKEN);
        t.whileTheFarEndPolls(
                () -> t.pair.queue.await((token, flags, length, data) -> tokens.add(token), 1, t.deadline));
        assertThat(tokens).containsExactly(TOKEN);
        t.awaitWritten();
    }

    private static void signal(Trial t) {
        t.pair.queue.signal();
        long start = System.nanoTime();
        assertThat(t.pair.queue.await(NOTHING, 1, t.deadline)).isZero();
        assertThat(System.nanoTime() - start).isLessThan(t.deadline.toNanos() / 2);
    }

    private static void tryWait(Trial t) {
        List<Long> tokens = new ArrayList<>();
        t.rma().write(t.here.slice(0, LENGTH), t.pair.far, t.there.remote(), TOKEN);
        long start = System.nanoTime();
        while (tokens.isEmpty() && System.nanoTime() - start < t.deadline.toNanos()) {
            Waiting.block(t.deadline, t.pair.queue, t.pair.farQueue);
            t.pair.queue.poll((token, flags, length, data) -> tokens.add(token), 1);
            t.pair.farQueue.poll(NOTHING, LENGTH);
        }
        assertThat(tokens).containsExactly(TOKEN);
    }
}

package io.ofi4j.conformance.calls;

import static io.ofi4j.conformance.calls.RmaSetting.LENGTH;
import static io.ofi4j.conformance.calls.RmaSetting.TOKEN;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.DetailedCompletionHandler;
import io.ofi4j.Libfabric;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Trial;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFlags;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.FabricInfo;
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

    static void addTo(Map<String, Trial> all) {
        for (CompletionFormat format : CompletionFormat.values()) {
            all.put("fi_cq_read, " + format,
                    RmaTrial.of(CompletionQueueAttributes.defaults().format(format), t -> readEach(t, format)));
        }
        all.put("fi_cq_readfrom", RmaTrial.of(RmaTrial.capability(Capability.SOURCE), CompletionTrials::readFrom));
        all.put("fi_cq_readerr, fi_cq_strerror", RmaTrial.of(CompletionTrials::readError));
        all.put("blocking read, UNSPEC", of(WaitObject.UNSPECIFIED, CompletionTrials::await));
        all.put("blocking read, FD", of(WaitObject.FD, CompletionTrials::await));
        all.put("blocking read, YIELD", of(WaitObject.YIELD, CompletionTrials::await));
        all.put("blocking read, signal", of(WaitObject.UNSPECIFIED, CompletionTrials::signal));
        all.put("fi_trywait, fi_control: GETWAIT", of(WaitObject.FD, CompletionTrials::tryWait));
    }

    private static Trial of(WaitObject object, RmaTrial body) {
        CompletionQueueAttributes attributes = CompletionQueueAttributes.defaults().waitObject(object);
        return RmaTrial.of(attributes, body);
    }

    private static DetailedCompletionHandler into(List<Told> told) {
        return (token, flags, length, data, buffer, tag, source) -> told.add(new Told(token, flags, data, source));
    }

    /** What both ends are told of a write with data, the near one first. */
    private static List<Told> tell(RmaSetting t) {
        List<Told> near = new ArrayList<>();
        List<Told> far = new ArrayList<>();
        t.rma().writeData(t.here.slice(0, LENGTH), DATA, t.ends.peer, t.there.remote(), TOKEN);
        Waiting.YIELD.until(() -> {
            t.near.queue.poll(into(near), LENGTH);
            t.far.queue.poll(into(far), LENGTH);
            return !near.isEmpty() && !far.isEmpty();
        }, t.deadline);
        return List.of(near.getFirst(), far.getFirst());
    }

    private static void readEach(RmaSetting t, CompletionFormat format) {
        List<Told> told = tell(t);
        Check.equal("the token", told.getFirst().token, TOKEN);
        boolean hasFlags = format != CompletionFormat.CONTEXT;
        Check.equal("whether it has data", told.getLast().flags & CompletionFlags.REMOTE_CQ_DATA,
                hasFlags ? CompletionFlags.REMOTE_CQ_DATA : 0);
        Check.equal("the data", told.getLast().data, format.compareTo(CompletionFormat.DATA) >= 0 ? DATA : 0);
    }

    private static void readFrom(RmaSetting t) {
        Peer near = t.ends.vector().insert(t.near.endpoint().address());
        Check.equal("the source", tell(t).getLast().source, near.fabricAddress());
    }

    /** With a key that nobody has. */
    private static void readError(RmaSetting t) {
        RemoteRegion there = t.there.remote();
        RemoteRegion wrong = new RemoteRegion(there.base(), LENGTH, ~there.key(), Access.REMOTE_READ.bit());
        t.rma().read(t.here.slice(0, LENGTH), t.ends.peer, wrong, TOKEN);
        t.ends.await(1, 0);
        CompletionError error = Check.single("the errors", t.near.errors);
        Check.equal("the token of the error", error.token(), TOKEN);
        Check.holds("the error has a number", error.errno() > 0);
        Check.holds("the error has a text", !error.toString().isBlank());
        FabricInfo info = t.ends.domain.info();
        if (info.quirks().isEmpty()) { return; } // of a device that nobody has tried: it may add what it likes
        // verbs of libfabric 1.x alone adds what the device says; none of shm, tcp, net, sockets, ofi_rxm and ofi_rxd
        // does
        boolean adds = info.provider().equals("verbs") && Libfabric.load().version().major() < 2;
        Check.equal("the bytes that the provider adds", error.providerData().length, adds ? Integer.BYTES : 0);
    }

    private static void await(RmaSetting t) throws InterruptedException {
        List<Long> tokens = new ArrayList<>();
        t.rma().write(t.here.slice(0, LENGTH), t.ends.peer, t.there.remote(), TOKEN);
        t.whileTheFarEndPolls(
                () -> t.near.queue.await((token, flags, length, data) -> tokens.add(token), 1, t.deadline));
        Check.equal("the tokens", tokens, List.of(TOKEN));
        t.awaitWritten();
    }

    private static void signal(RmaSetting t) {
        t.near.queue.signal();
        long start = System.nanoTime();
        Check.equal("the completions that a signal ends the wait with", t.near.queue.await(NOTHING, 1, t.deadline), 0);
        Check.holds("a signal ends the wait", System.nanoTime() - start < t.deadline.toNanos() / 2);
    }

    private static void tryWait(RmaSetting t) {
        List<Long> tokens = new ArrayList<>();
        t.rma().write(t.here.slice(0, LENGTH), t.ends.peer, t.there.remote(), TOKEN);
        long start = System.nanoTime();
        while (tokens.isEmpty() && System.nanoTime() - start < t.deadline.toNanos()) {
            Waiting.block(t.deadline, t.near.queue, t.far.queue);
            t.near.queue.poll((token, flags, length, data) -> tokens.add(token), 1);
            t.far.queue.poll(NOTHING, LENGTH);
        }
        Check.equal("the tokens", tokens, List.of(TOKEN));
    }
}

package io.ofi4j.conformance;

import io.ofi4j.AddressVector;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.Peer;
import io.ofi4j.Waiting;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricInfo;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Two endpoints that reach each other: the near one in this process posts what is tried, the far one is in another
 * process, on this machine or on another. What a trial does with them is written once, for both.
 */
public final class Pair implements AutoCloseable {
    /** The domain of the near end. */
    public final Domain domain;
    /** The end that posts. */
    public final End near;
    /** The end that is reached. */
    public final FarEnd far;
    /** The far end, as the near one knows it. */
    public final Peer peer;
    /** Where the far end is. */
    public final EndpointAddress address;

    private final Duration deadline;
    private final Fabric fabric;
    private final AddressVector vector;
    /** Of connected endpoints; null otherwise. */
    private final EventQueue events;
    private final long opened;
    private boolean hasRound;
    private Runnable onPoll = () -> {};

    /** What is bound to the near endpoint before it is enabled, besides vector and event queue. */
    @FunctionalInterface
    public interface Binding {
        /** {@return the endpoint, bound} */
        Endpoint bind(Domain domain, CompletionQueue queue, Endpoint endpoint);
    }

    /** The near end has a queue for all. */
    public static final Binding QUEUE = (domain, queue, endpoint) -> endpoint.bind(queue);

    /** Two ends that are opened with the usual hints. */
    public Pair(Subject subject) throws InterruptedException {
        this(subject, CompletionFormat.DATA, QUEUE);
    }

    /**
     * Two ends.
     *
     * @param format of the completions at both
     * @param binding what the near end is bound to
     * @param capabilities what both need, besides RMA where it is there; without any, the usual hints
     */
    public Pair(Subject subject, CompletionFormat format, Binding binding, Capability... capabilities)
            throws InterruptedException {
        deadline = subject.deadline();
        FabricInfo info = Subject.info(capabilities.length == 0 ? subject.hints() : subject.hints(capabilities));
        far = new FarEnd(subject.farProcesses().take(), deadline, this::progress);
        address = far.open(Stream.concat(Stream.of(format), Stream.of(capabilities)).map(Enum::name)
                .collect(Collectors.joining(" ")));
        fabric = Libfabric.load().openFabric(info);
        domain = fabric.openDomain();
        near = new End(domain.openCompletionQueue(CompletionQueueAttributes.defaults().format(format)));
        if (subject.isConnected()) {
            vector = null;
            events = fabric.openEventQueue();
            near.endpoint(
                    binding.bind(domain, near.queue, domain.openEndpoint(info.withDestination(address)).bind(events))
                            .enable());
            near.endpoint().connection().connect(address);
            far.accept();
            near.endpoint().connection().awaitConnected(deadline);
            peer = near.endpoint().connection().peer();
        } else {
            events = null;
            vector = domain.openAddressVector();
            near.endpoint(binding.bind(domain, near.queue, domain.openEndpoint().bind(vector)).enable());
            peer = vector.insert(address);
        }
        near.endpoint().postTimeout(deadline);
        opened = System.nanoTime();
    }

    /** Makes progress at the near end. It may not be there yet. */
    private void progress() {
        if (near == null || near.endpoint() == null) { return; }
        if (events != null) { events.progress(); }
        near.poll();
        onPoll.run();
    }

    /** From now on does something behind each poll, so that it goes on while the far half works. */
    public void onPoll(Runnable work) {
        onPoll = work;
    }

    /** {@return whether there is time for one more round} Trials have many, fewer on a busy machine, and always one. */
    public boolean hasTime() {
        boolean isFirst = !hasRound;
        hasRound = true;
        return isFirst || System.nanoTime() - opened < deadline.toNanos();
    }

    /** Makes progress at the near end; the far one does by itself. */
    public void poll() { progress(); }

    /** {@return whether something is so, polling until it is} */
    public boolean within(Duration time, BooleanSupplier condition) {
        return Waiting.YIELD.tryUntil(() -> {
            poll();
            return condition.getAsBoolean();
        }, time);
    }

    /**
     * Polls until something is so, or throws {@link Absent}.
     *
     * @param what a noun for what has to come, such as "the last message"
     */
    public void require(String what, BooleanSupplier condition) {
        if (!within(deadline, condition)) { throw new Absent(what, deadline); }
    }

    /** Polls and fetches what has completed at the far end until something is so, or throws {@link Absent}. */
    public void requireFar(String what, BooleanSupplier condition) {
        require(what, () -> {
            far.fetch();
            return condition.getAsBoolean();
        });
    }

    /** Waits for one completion at the near end, with this token and no error. What had completed before is dropped. */
    public void awaitToken(long token) {
        near.done.clear();
        require("a completion", () -> near.count() > 0);
        Check.none("the errors", near.errors);
        Check.equal("the token of the completion", Check.single("the completions", near.tokens()), token);
    }

    /** Waits until memory of the far end has the bytes of a {@link Pattern}: a write may complete before. */
    public void requireArrived(String what, FarRegion region, long offset, long length, long pattern) {
        try {
            require("the bytes", () -> region.mismatch(offset, length, pattern) == null);
        } catch (Absent _) {
            region.require(what, offset, length, pattern);
        }
    }

    @Override
    public void close() {
        near.endpoint().close();
        try {
            far.close();
        } finally {
            if (vector != null) { vector.close(); }
            if (events != null) { events.close(); }
            near.queue.close();
            domain.close();
            fabric.close();
        }
    }
}

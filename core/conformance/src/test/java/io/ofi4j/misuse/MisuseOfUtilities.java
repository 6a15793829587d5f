package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Waiting;
import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Direction;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.support.Mailbox;
import io.ofi4j.support.Pair;
import io.ofi4j.util.FabricFuture;
import io.ofi4j.util.FutureThread;
import io.ofi4j.util.Pipeline;
import io.ofi4j.util.PipelineHandler;
import io.ofi4j.util.PollGroup;
import io.ofi4j.util.RegisteredPool;
import java.io.UncheckedIOException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Pipelines, futures, poll groups and pools with what does not belong to them, and waits of theirs that end in nothing.
 */
final class MisuseOfUtilities {
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final Class<? extends Throwable> TIME = FabricTimeoutException.class;
    private static final Duration SHORT = Duration.ofMillis(10);
    private static final PipelineHandler<String> IGNORING = new PipelineHandler<>() {
        @Override
        public void onCompletion(String context, long length, long data) {
            // what completes is not looked at
        }

        @Override
        public void onError(String context, CompletionError error) {
            // nor what fails
        }
    };

    private MisuseOfUtilities() {}

    static Stream<Misuse> cases() {
        return Stream.of(pipelines(), futures(), groups(), pools()).flatMap(cases -> cases);
    }

    private static Misuse pipeline(String name, Class<? extends Throwable> expected, String words,
            Consumer<MisuseStage> call) {
        return refused("pipeline: " + name, expected, words, call);
    }

    /** With one place, which a receive takes that nothing comes for. */
    private static Pipeline<String> full(MisuseStage s) {
        Mailbox box = s.opened(new Mailbox("shm", Capability.MSG, Capability.RMA));
        Pipeline<String> pipeline = new Pipeline<>(box.pair.endpoint, box.pair.queue, 1, IGNORING);
        box.pair.endpoint.postTimeout(SHORT);
        pipeline.submit("never sent", token -> box.pair.endpoint.messages().receive(box.near.slice(0, 8), token));
        return pipeline;
    }

    private static Stream<Misuse> pipelines() {
        return Stream.of(
                pipeline("no operation at a time", ARGUMENT, "not 0",
                        s -> new Pipeline<>(s.pair.endpoint, s.pair.queue, 0, IGNORING)),
                pipeline("another endpoint's queue", ARGUMENT, "bound to the endpoint",
                        s -> new Pipeline<>(s.pair.endpoint, s.pair.farQueue, 1, IGNORING)),
                pipeline("completions that do not come", TIME, "completing 1 operations", s -> full(s).drain(SHORT)),
                pipeline("a write without a place", TIME, "All 1 operations",
                        s -> full(s).write(s.source.slice(0, 8), s.pair.far, s.target.remote(), "too many")),
                pipeline("a write of the queue for receives", STATE, "complete in another queue", s -> {
                    CompletionQueue sent = s.opened(s.pair.domain.openCompletionQueue());
                    CompletionQueue received = s.opened(s.pair.domain.openCompletionQueue());
                    Endpoint endpoint = s.opened(s.pair.domain.openEndpoint().bind(sent, Direction.TRANSMIT)
                            .bind(received, Direction.RECEIVE).bind(s.pair.vector).enable());
                    new Pipeline<>(endpoint, received, 1, IGNORING).write(s.source.slice(0, 8), s.pair.far,
                            s.target.remote(), "a write");
                }));
    }

    private static Stream<Misuse> futures() {
        return Stream.of(
                refused("futures: another endpoint's queue", ARGUMENT, "bound to the endpoint",
                        s -> new FutureThread(s.pair.endpoint, s.pair.farQueue)),
                refused("futures: of one thread's queue", STATE, "SAFE", s -> {
                    Pair owned = s.owned(ThreadingModel.DOMAIN);
                    new FutureThread(owned.endpoint, owned.queue);
                }), refused("futures: a second object on a queue", STATE, "other futures", s -> {
                    s.opened(new FutureThread(s.pair.endpoint, s.pair.queue));
                    new FutureThread(s.pair.endpoint, s.pair.queue);
                }),
                refused("futures: submit after close", STATE, "closed",
                        s -> MisuseStage.closed(new FutureThread(s.pair.endpoint, s.pair.queue)).submit(token -> {})),
                future("a wait inside an action", STATE, "thenCompose", (futures, box) -> {
                    FabricFuture first = futures.receive(box.far.slice(0, 8));
                    FabricFuture never = futures.receive(box.far.slice(8, 8));
                    CompletableFuture<FutureThread.Result> action = first.thenApply(received -> never.await());
                    box.pair.endpoint.messages().send(box.near.slice(0, 8), box.pair.far, 1);
                    Waiting.YIELD.until(() -> {
                        box.pair.queue.poll(MisuseStage.IGNORING, 1);
                        return action.isDone();
                    }, Pair.DEADLINE);
                    joined(action);
                }), future("a wait for a receive that is canceled", CancellationException.class, "canceled",
                        (futures, box) -> {
                            FabricFuture future = futures.receive(box.far.slice(0, 8));
                            future.cancel(true);
                            future.await();
                        }),
                future("a wait beyond the deadline", TIME, "within 10 ms",
                        (futures, box) -> futures.receive(box.far.slice(0, 8)).within(SHORT).await()),
                future("an interrupted wait", FabricException.class, "interrupted",
                        (futures, box) -> MisuseStage.interrupted(futures.receive(box.far.slice(0, 8))::await)));
    }

    /** FutureThread of the far end of a mailbox, which the near end sends to. */
    private static Misuse future(String name, Class<? extends Throwable> expected, String words,
            BiConsumer<FutureThread, Mailbox> call) {
        return refused("futures: " + name, expected, words, s -> {
            Mailbox box = s.opened(new Mailbox("tcp;ofi_rxm", Capability.MSG, Capability.RMA));
            call.accept(s.opened(new FutureThread(box.pair.farEndpoint, box.pair.farQueue)), box);
        });
    }

    /** What an action throws. */
    private static void joined(CompletableFuture<?> action) {
        try {
            action.join();
        } catch (CompletionException e) {
            throw (RuntimeException) e.getCause();
        }
    }

    private static Misuse group(String name, Class<? extends Throwable> expected, String words,
            BiConsumer<PollGroup, Pipe.SourceChannel> call) {
        return refused("poll group: " + name, expected, words, s -> {
            Pipe pipe = MisuseStage.unchecked(Pipe::open);
            s.opened(pipe.sink());
            call.accept(s.opened(new PollGroup()), s.opened(pipe.source()));
        });
    }

    private static Stream<Misuse> groups() {
        return Stream.of(
                group("operations that a channel does not have", ARGUMENT, "SelectionKey",
                        (group, source) -> group.add(source, SelectionKey.OP_ACCEPT, key -> {})),
                group("a channel that blocks", STATE, "configureBlocking",
                        (group, source) -> group.add(source, SelectionKey.OP_READ, key -> {})),
                group("a channel that is closed", UncheckedIOException.class, "Closed", (group, source) -> {
                    MisuseStage.unchecked(() -> source.configureBlocking(false));
                    group.add(MisuseStage.closed(source), SelectionKey.OP_READ, key -> {});
                }), group("an interrupted wait", FabricException.class, "interrupted",
                        (group, source) -> MisuseStage.interrupted(() -> group.await(Pair.DEADLINE))));
    }

    private static Misuse pool(String name, Class<? extends Throwable> expected, String words,
            BiConsumer<RegisteredPool, MemoryRegion> call) {
        return refused("pool: " + name, expected, words, s -> {
            MemoryRegion region = s.region(s.pair, Access.SEND);
            call.accept(new RegisteredPool(region, 8), region);
        });
    }

    private static Stream<Misuse> pools() {
        return Stream.of(
                pool("pieces of no power of two", ARGUMENT, "not 12", (pool, region) -> new RegisteredPool(region, 12)),
                pool("pieces larger than the region", ARGUMENT, "a power of two, at most the region",
                        (pool, region) -> new RegisteredPool(region, Long.highestOneBit(region.length()) << 1)),
                pool("a closed region", STATE, "takes no more operations",
                        (pool, region) -> new RegisteredPool(MisuseStage.closed(region), 8)),
                pool("a piece larger than the largest", ARGUMENT, "a piece of this pool",
                        (pool, region) -> pool.take(pool.largest() + 1)),
                pool("a piece of a closed region", STATE, "takes no more operations", (pool, region) -> {
                    region.close();
                    pool.take(8);
                }), pool("a piece that is given back twice", ARGUMENT, "given back before", (pool, region) -> {
                    long offset = pool.take(8);
                    pool.give(offset);
                    pool.give(offset);
                }), pool("an address outside the region", ARGUMENT, "is not in the region",
                        (pool, region) -> pool.offset(1)));
    }
}

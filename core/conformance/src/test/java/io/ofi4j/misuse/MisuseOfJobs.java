package io.ofi4j.misuse;

import static io.ofi4j.misuse.Misuse.refused;

import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.RemoteRegion;
import io.ofi4j.errors.FabricTimeoutException;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.job.Doorbell;
import io.ofi4j.job.Job;
import io.ofi4j.job.JobCollectives;
import io.ofi4j.job.JobException;
import io.ofi4j.job.JobGroup;
import io.ofi4j.job.RankOfTwo;
import io.ofi4j.job.Ranks;
import io.ofi4j.job.Reduction;
import io.ofi4j.job.PeerHello;
import io.ofi4j.job.PeerLink;
import io.ofi4j.job.PeerServer;
import io.ofi4j.job.RemoteDoorbell;
import io.ofi4j.job.Rendezvous;
import io.ofi4j.job.RendezvousException;
import io.ofi4j.job.SymmetricMemory;
import io.ofi4j.support.FreePort;
import io.ofi4j.support.Pair;
import io.ofi4j.support.TestProviders;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.function.BiConsumer;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Jobs of one, ranks that are not there, and a rendezvous with too much, too little or nobody. */
final class MisuseOfJobs {
    private static final Class<? extends Throwable> RANGE = IndexOutOfBoundsException.class;
    private static final Class<? extends Throwable> ARGUMENT = IllegalArgumentException.class;
    private static final Class<? extends Throwable> STATE = IllegalStateException.class;
    private static final Class<? extends Throwable> GONE = RendezvousException.class;
    private static final Class<? extends Throwable> TIME = FabricTimeoutException.class;
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final Duration SHORT = Duration.ofMillis(10);
    private static final byte[] TOO_LONG = new byte[(1 << 20) + 1];
    private static final int SERVED_BYTES = 64 << 20;
    private static final byte[] SOME = {1, 2, 3};

    private MisuseOfJobs() {}

    static Stream<Misuse> cases() {
        return Stream
                .of(jobs(), leavers(), groups(), memories(), ranks(), lazyRanks(), rendezvous(), peers(), doorbells())
                .flatMap(cases -> cases);
    }

    private static Misuse job(String name, Class<? extends Throwable> expected, String words, Consumer<Job> call) {
        return refused("job: " + name, expected, words, s -> call.accept(s.opened(Job.join())));
    }

    private static Stream<Misuse> jobs() {
        return Stream.of(refused("job: no time to join", ARGUMENT, "above zero", s -> Job.join(Duration.ZERO)),
                job("a name that is too long", ARGUMENT, "at most 200 bytes; this one has 1000",
                        job -> job.put("x".repeat(1000), SOME)),
                job("a value that is too long", ARGUMENT, "bytes", job -> job.put("name", TOO_LONG)),
                job("a name that was put already", STATE, "use another name", job -> {
                    job.put("name", SOME);
                    job.put("name", SOME);
                }), job("gather what is too long", ARGUMENT, "bytes", job -> job.gather(TOO_LONG)),
                job("the value of a rank that is not there", RANGE, "1", job -> job.get(1, "name")),
                job("a value that nobody put", JobException.class, "was not put", job -> job.get(0, "name")),
                job("an abort with success", ARGUMENT, "not 0", job -> job.abort(0, "why")),
                job("an abort without a reason", ARGUMENT, "reason", job -> job.abort(1, " ")),
                refused("job: collectives without tags", UnsupportedOperationException.class, "TAGGED",
                        s -> new JobCollectives(s.opened(Job.join()), s.pair.domain)),
                refused("job: a reduction that is none", UnsupportedOperationException.class, "ATOMIC_WRITE",
                        s -> Reduction.of(AtomicOperation.ATOMIC_WRITE, Datatype.INT64)));
    }

    /** The two ranks of a job, of which rank 0 serves it; both are closed at the end. */
    private static List<Job> two(MisuseStage s) {
        InetSocketAddress at = new InetSocketAddress(InetAddress.getLoopbackAddress(), FreePort.find());
        String secret = Rendezvous.newSecret();
        FutureTask<Job> other = new FutureTask<>(() -> RankOfTwo.join(1, at, secret));
        Thread.ofPlatform().daemon().start(other);
        Job job = s.opened(RankOfTwo.join(0, at, secret));
        MisuseStage.await(other);
        return List.of(job, s.opened(other.resultNow())); // who serves closes last
    }

    private static Misuse alone(String name, BiConsumer<MisuseStage, Job> call) {
        return refused("job: " + name + " after the other rank has left", JobException.class, "has left", s -> {
            List<Job> both = two(s);
            both.getLast().close();
            call.accept(s, both.getFirst());
        });
    }

    /** Rank 0 serves it. */
    private static Misuse full() {
        return refused("job: more values than it keeps", JobException.class, "is full", s -> {
            Job job = two(s).getFirst();
            for (int i = 0; i <= SERVED_BYTES / Rendezvous.MAX_VALUE_LENGTH; i++) {
                job.put("name " + i, new byte[Rendezvous.MAX_VALUE_LENGTH]);
            }
        });
    }

    private static Stream<Misuse> leavers() {
        return Stream.of(full(), alone("a barrier", (s, job) -> job.barrier()),
                alone("gathering", (s, job) -> job.gather(SOME)), alone("a split", (s, job) -> job.split(0, 0)),
                alone("symmetric memory",
                        (s, job) -> SymmetricMemory.allocate(job.group(), delivering(s, Capability.RMA), 64)),
                alone("collectives", (s, job) -> new JobCollectives(job,
                        s.domain(TestProviders.hints("tcp;ofi_rxm").capabilities(Capability.TAGGED)))));
    }

    private static Stream<Misuse> groups() {
        return Stream.of(
                job("a group with a rank that is not there", ARGUMENT, "from 0 to 0 of its job, not 1",
                        job -> JobGroup.of(job, List.of(0, 1))),
                job("a group with a rank twice", ARGUMENT, "twice", job -> JobGroup.of(job, List.of(0, 0))),
                job("a group without this rank", ARGUMENT, "is not in the group", job -> JobGroup.of(job, List.of())),
                job("the rank of a member that is not there", RANGE, "1", job -> job.group().jobRank(1)));
    }

    /** A domain whose operations are done when the bytes have arrived. */
    private static Domain delivering(MisuseStage s, Capability... capabilities) {
        return s.domain(TestProviders.hints("tcp;ofi_rxm").capabilities(capabilities)
                .operationFlags(OperationFlag.DELIVERY_COMPLETE));
    }

    private static Misuse memory(String name, Class<? extends Throwable> expected, String words,
            Consumer<SymmetricMemory> call) {
        return refused("symmetric memory: " + name, expected, words, s -> call.accept(
                s.opened(SymmetricMemory.allocate(s.opened(Job.join()).group(), delivering(s, Capability.RMA), 64))));
    }

    private static Stream<Misuse> memories() {
        return Stream.of(
                refused("symmetric memory: operations that do not wait for delivery", ARGUMENT,
                        "SymmetricMemory.hints()",
                        s -> SymmetricMemory.allocate(s.opened(Job.join()).group(), s.pair.domain, 64)),
                memory("a put past the end", RANGE, "not inside", m -> m.put(0, 60, m.region().slice(0, 8))),
                memory("a get from a rank that is not there", RANGE, "1", m -> m.get(1, 0, m.region().slice(0, 8))),
                memory("a signal at an odd place", ARGUMENT, "multiple of 8, not 4",
                        m -> m.putThenSignal(0, 0, m.region().slice(0, 8), 4, 1)),
                memory("a fetch-add without atomics", UnsupportedOperationException.class, "ATOMIC",
                        m -> m.fetchAdd(0, 0, 1)),
                memory("a compare-and-swap without atomics", UnsupportedOperationException.class, "ATOMIC",
                        m -> m.compareSwap(0, 0, 1, 2)));
    }

    private static Misuse ranks(String name, Class<? extends Throwable> expected, String words, Consumer<Ranks> call) {
        return refused("ranks: " + name, expected, words,
                s -> call.accept(Ranks.exchange(s.opened(Job.join()), s.pair.endpoint, s.pair.vector)));
    }

    private static Misuse lazy(String name, Class<? extends Throwable> expected, String words, Consumer<Ranks> call) {
        return refused("ranks: " + name, expected, words, s -> call.accept(
                Ranks.lazy(s.opened(Job.join()), s.pair.endpoint, s.other("sockets").vector, s.target.remote())));
    }

    private static Misuse closed(String name, Consumer<Ranks> call) {
        return refused("ranks: " + name + " when the job is closed", STATE, "is closed", s -> {
            Job job = Job.join();
            Ranks ranks = Ranks.lazy(job, s.pair.endpoint, s.pair.vector, s.target.remote());
            job.close();
            call.accept(ranks);
        });
    }

    private static Stream<Misuse> lazyRanks() {
        return Stream.of(
                lazy("a peer for a vector of another provider", JobException.class, "cannot be inserted",
                        ranks -> ranks.peer(0)),
                lazy("a region for a vector of another provider", JobException.class, "cannot be inserted",
                        ranks -> ranks.region(0, 0)),
                closed("a first peer", ranks -> ranks.peer(0)), closed("a first region", ranks -> ranks.region(0, 0)),
                refused("ranks: too many regions to be fetched", ARGUMENT, "at most 1000 regions",
                        s -> Ranks.lazy(s.opened(Job.join()), s.pair.endpoint, s.pair.vector,
                                Stream.generate(s.target::remote).limit(1001).toArray(RemoteRegion[]::new))),
                refused("ranks: fetched for an endpoint that is not enabled", STATE, "enable", s -> {
                    Endpoint endpoint = s.opened(s.pair.domain.openEndpoint());
                    Ranks.lazy(s.opened(Job.join()), endpoint, s.pair.vector);
                }));
    }

    private static Stream<Misuse> ranks() {
        return Stream.of(ranks("a peer that is not there", RANGE, "1", ranks -> ranks.peer(1)),
                ranks("the region of a rank that is not there", RANGE, "1", ranks -> ranks.region(1, 0)),
                ranks("a region that is not there", RANGE, "0", ranks -> ranks.region(0, 0)),
                refused("ranks: too many regions", ARGUMENT, "at most 1000 regions",
                        s -> Ranks.exchange(s.opened(Job.join()), s.pair.endpoint, s.pair.vector,
                                Stream.generate(s.target::remote).limit(1001).toArray(RemoteRegion[]::new))),
                refused("ranks: an endpoint that is not enabled", STATE, "enable", s -> {
                    Endpoint endpoint = s.opened(s.pair.domain.openEndpoint());
                    Ranks.exchange(s.opened(Job.join()), endpoint, s.pair.vector);
                }), refused("ranks: a vector of another provider", JobException.class, "cannot be inserted",
                        s -> Ranks.exchange(s.opened(Job.join()), s.pair.endpoint, s.other("sockets").vector)));
    }

    private static Misuse meeting(String name, Class<? extends Throwable> expected, String words,
            Consumer<Rendezvous> call) {
        return refused("rendezvous: " + name, expected, words,
                s -> call.accept(s.opened(Rendezvous.serve(ANY_PORT, Rendezvous.newSecret()))));
    }

    /** Of a member whose server has gone. */
    private static Misuse left(String name, Consumer<Rendezvous> call) {
        return refused("rendezvous: " + name + " without the server", GONE, "has gone", s -> {
            String secret = Rendezvous.newSecret();
            Rendezvous server = s.opened(Rendezvous.serve(ANY_PORT, secret));
            Rendezvous member = s.opened(Rendezvous.join(server.address(), secret, Pair.DEADLINE));
            server.close();
            call.accept(member);
        });
    }

    private static Stream<Misuse> rendezvous() {
        return Stream.of(
                refused("rendezvous: a secret that is too short", ARGUMENT, "at least 16",
                        s -> Rendezvous.serve(ANY_PORT, "short")),
                refused("rendezvous: join with a secret that is too short", ARGUMENT, "at least 16",
                        s -> Rendezvous.join(ANY_PORT, "short", SHORT)),
                meeting("an address that is in use", GONE, "another port",
                        r -> Rendezvous.serve(r.address(), Rendezvous.newSecret())),
                meeting("another secret", GONE, "same secret",
                        r -> Rendezvous.join(r.address(), Rendezvous.newSecret(), Pair.DEADLINE)),
                meeting("what is never published", TIME, "has published", r -> r.await("never", SHORT)),
                meeting("an address that is none", ARGUMENT, "not an encoded address", r -> {
                    r.publish("name", SOME);
                    r.awaitAddress("name", SHORT);
                }), meeting("a region that is none", ARGUMENT, "40 bytes", r -> {
                    r.publish("name", SOME);
                    r.awaitRegion("name", SHORT);
                }), meeting("a name that is too long", ARGUMENT, "1 to 255", r -> r.publish("x".repeat(300), SOME)),
                meeting("a value that is too long", ARGUMENT, "bytes", r -> r.publish("name", TOO_LONG)),
                meeting("enter a place below 0", ARGUMENT, "no place -1", r -> r.enter(-1, "name")),
                refused("rendezvous: enter a place that is taken", GONE, "first is at place 0 already", s -> {
                    String secret = Rendezvous.newSecret();
                    Rendezvous server = s.opened(Rendezvous.serve(ANY_PORT, secret));
                    server.enter(0, "the first");
                    s.opened(Rendezvous.join(server.address(), secret, Pair.DEADLINE)).enter(0, "the second");
                }), meeting("leave without a reason", ARGUMENT, "reason", r -> r.fail("")),
                meeting("leave what was not entered", STATE, "enter", r -> r.fail("why")),
                meeting("gather at a place that is not there", ARGUMENT, "no place 2",
                        r -> r.gather("name", 2, 2, SOME, SHORT)),
                meeting("gather alone", TIME, "have not come", r -> r.gather("name", 0, 2, SOME, SHORT)),
                left("await", r -> r.await("name", SHORT)), left("publish", r -> r.publish("name", SOME)),
                left("gather", r -> r.gather("name", 0, 1, SOME, SHORT)));
    }

    private static Misuse serving(String name, Class<? extends Throwable> expected, String words,
            Consumer<PeerServer> call) {
        return refused("peers: " + name, expected, words,
                s -> call.accept(s.opened(PeerServer.listen(ANY_PORT, Rendezvous.newSecret()))));
    }

    /** A link at the server, whose peer waits to be accepted. */
    private static Misuse arrived(String name, String words, BiConsumer<PeerLink, PeerHello> call) {
        return refused("peers: " + name, STATE, words, s -> {
            String secret = Rendezvous.newSecret();
            PeerHello hello = PeerHello.of(s.pair.endpoint);
            PeerServer server = s.opened(PeerServer.listen(ANY_PORT, secret));
            CompletableFuture<PeerLink> client = CompletableFuture.supplyAsync(
                    () -> PeerLink.connect(server.address(), secret, hello, Pair.DEADLINE),
                    task -> Thread.ofVirtual().start(task));
            client.thenAccept(PeerLink::close);
            server.await(link -> call.accept(link, hello), link -> {}, Pair.DEADLINE);
        });
    }

    private static Misuse ringing(String name, Class<? extends Throwable> expected, String words,
            Consumer<Doorbell> call) {
        return refused("doorbells: " + name, expected, words, s -> call.accept(s.opened(Doorbell.open())));
    }

    private static Stream<Misuse> doorbells() {
        return Stream.of(ringing("await at a closed one", STATE, "is closed", bell -> {
            bell.close();
            bell.await(() -> 0, SHORT, Duration.ZERO);
        }), ringing("await in a thread that is interrupted", GONE, "was interrupted", bell -> {
            MisuseStage.interrupted(() -> bell.await(() -> 0, Pair.DEADLINE, Duration.ZERO));
        }), ringing("open that of a process that has gone", GONE, "Is its process running", bell -> {
            bell.close();
            RemoteDoorbell.open(bell.address());
        }), ringing("ring a closed one", STATE, "is closed", bell -> {
            RemoteDoorbell remote = RemoteDoorbell.open(bell.address());
            remote.close();
            remote.ring();
        }), refused("doorbells: bytes that are no address", ARGUMENT, "no address of a doorbell",
                s -> RemoteDoorbell.open(new byte[3])));
    }

    private static Stream<Misuse> peers() {
        return Stream.of(
                refused("peers: a secret that is too short", ARGUMENT, "at least 16",
                        s -> PeerServer.listen(ANY_PORT, "short")),
                refused("peers: connect with a secret that is too short", ARGUMENT, "at least 16",
                        s -> PeerLink.connect(ANY_PORT, "short", PeerHello.of(s.pair.endpoint), SHORT)),
                refused("peers: connect with another secret", GONE, "same secret", s -> {
                    PeerServer server = s.opened(PeerServer.listen(ANY_PORT, Rendezvous.newSecret()));
                    PeerLink.connect(server.address(), Rendezvous.newSecret(), PeerHello.of(s.pair.endpoint),
                            Pair.DEADLINE);
                }),
                refused("peers: a hello that is too long", ARGUMENT, "may take 16384",
                        s -> PeerHello.of(s.pair.endpoint).withData(TOO_LONG)),
                serving("an address that is in use", GONE, "another port",
                        server -> PeerServer.listen(server.address(), Rendezvous.newSecret())),
                serving("poll a closed server", STATE, "is closed", server -> {
                    server.close();
                    server.poll(link -> {}, link -> {});
                }), serving("await a closed server", STATE, "is closed", server -> {
                    server.close();
                    server.await(link -> {}, link -> {}, SHORT);
                }), serving("await in a thread that is interrupted", GONE, "was interrupted", server -> {
                    MisuseStage.interrupted(() -> server.await(link -> {}, link -> {}, Pair.DEADLINE));
                }), arrived("accept a peer twice", "answered once", (link, hello) -> {
                    link.accept(hello);
                    link.accept(hello);
                }), arrived("refuse a peer twice", "is closed", (link, hello) -> {
                    link.refuse("why not");
                    link.refuse("why not");
                }));
    }
}

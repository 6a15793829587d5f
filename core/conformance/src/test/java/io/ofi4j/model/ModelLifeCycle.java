package io.ofi4j.model;

import io.ofi4j.Access;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Endpoint;
import io.ofi4j.Libfabric;
import io.ofi4j.PackagePrivate;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.Direction;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.WaitObject;
import io.ofi4j.model.ModelState.Alias;
import io.ofi4j.model.ModelState.Dom;
import io.ofi4j.model.ModelState.End;
import io.ofi4j.model.ModelState.Known;
import io.ofi4j.model.ModelState.Queue;
import io.ofi4j.model.ModelState.Region;
import io.ofi4j.model.ModelState.Thing;
import io.ofi4j.model.ModelState.Vector;
import io.ofi4j.support.Expect;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/** Steps that open, bind, enable, insert, remove and close. */
final class ModelLifeCycle {
    private static final int[] QUEUE_SIZES = {1, 2, 3, 16, 64};
    private static final int MAX_ENDS = 5;
    private static final int MAX_REGIONS = 20;

    private final ModelProgram program;
    private final ModelState state;
    final ModelCounters counters;
    private final ModelEvents events;

    ModelLifeCycle(ModelProgram program) {
        this.program = program;
        this.state = program.state;
        this.counters = new ModelCounters(program);
        this.events = new ModelEvents(program);
    }

    /** What nearly every program needs, so that few steps do something. */
    void begin() {
        openDomain();
        for (int count = 0; count < 2; count++) {
            while (state.queues.size() <= count) { // some wait objects are not offered
                openQueue();
            }
            openVector();
            End end = openEnd(state.domains.getFirst());
            bind(end, state.vectors.getFirst());
            bind(end, program.pick(state.queues), false, Direction.values());
            counters.openAndBind(end);
            enable(end);
        }
        for (End end : state.ends) {
            insert(state.vectors.getFirst(), end);
        }
        openRegion();
        openRegion();
    }

    void step() {
        switch (program.random.nextInt(18)) {
            case 0 -> openDomainOrCloseOne();
            case 1 -> openQueue();
            case 2 -> openVector();
            case 3, 4 -> openAndEnable();
            case 5, 6 -> openRegion();
            case 7 -> close(program.pick(state.regions));
            case 8 -> close(program.pick(state.queues));
            case 9 -> close(program.pick(state.vectors));
            case 10 -> close(program.pick(state.ends));
            case 11 -> remove();
            case 12 -> insert(program.pick(state.vectors), program.chance(85) ? program.pick(state.ends) : null);
            case 13 -> alias(program.pick(state.ends));
            case 14 -> counters.openOrClose();
            case 15, 16 -> events.step();
            default -> bindSomethingOrEnable(program.pick(state.ends));
        }
    }

    private void bindSomethingOrEnable(End end) {
        switch (program.random.nextInt(6)) {
            case 0, 1 -> bind(end, program.pick(state.queues));
            case 2 -> bind(end, program.pick(state.vectors));
            case 3 -> counters.bind(end);
            default -> enable(end);
        }
    }

    private void openDomainOrCloseOne() {
        if (state.domains.size() < 2 && program.chance(20)) {
            openDomain();
            return;
        }
        Dom dom = program.pick(state.domains);
        if (hasChildren(dom)) { // the last things go when the program ends
            program.note("close domain with children");
            new Expect("Domain.close").refused(true, IllegalStateException.class).run(dom.domain::close);
            new Expect("Fabric.close").refused(true, IllegalStateException.class).run(program.fabric::close);
        }
    }

    private boolean hasChildren(Dom dom) {
        return java.util.stream.Stream.of(state.queues, state.vectors, state.ends, state.counts).flatMap(List::stream)
                .anyMatch(thing -> thing.open && thing.dom == dom);
    }

    private void openDomain() {
        program.note("open domain " + state.domains.size());
        Dom dom = new Dom();
        dom.domain = program.fabric.openDomain();
        state.domains.add(dom);
    }

    private void openQueue() {
        Queue queue = new Queue();
        queue.dom = program.pick(state.domains);
        int size = QUEUE_SIZES[program.random.nextInt(QUEUE_SIZES.length)];
        WaitObject object = program.objects.any();
        queue.threshold = program.chance(85) ? 1 : 2 + program.random.nextInt(3);
        program.note("open queue " + state.queues.size() + " of size " + size + domain(queue) + " with wait object "
                + object + ", threshold " + queue.threshold);
        queue.queue = program.objects.open(queue.dom.domain,
                CompletionQueueAttributes.defaults().size(size).waitObject(object).waitThreshold(queue.threshold));
        if (queue.queue == null) { return; }
        queue.hasDescriptor = ModelWaitObjects.hasDescriptor(queue.queue, object);
        state.queues.add(queue);
    }

    private void openVector() {
        Vector vector = new Vector();
        vector.dom = program.pick(state.domains);
        program.note("open vector " + state.vectors.size() + domain(vector));
        vector.vector = vector.dom.domain.openAddressVector();
        state.vectors.add(vector);
    }

    private String domain(Thing thing) { return " of domain " + state.domains.indexOf(thing.dom); }

    private End openEnd(Dom dom) {
        End end = new End();
        end.dom = dom;
        program.note("open endpoint " + state.ends.size() + domain(end));
        end.endpoint = dom.domain.openEndpoint().postTimeout(Duration.ofMillis(5));
        state.ends.add(end);
        return end;
    }

    private void openAndEnable() {
        if (state.openEnds().size() >= MAX_ENDS) {
            close(program.pick(state.openEnds()));
            return;
        }
        End end = openEnd(program.pick(state.domains));
        if (program.chance(20)) {
            bindLittle(end);
            enable(end);
            return;
        }
        List<Runnable> bindings = new ArrayList<>(List.of(() -> bind(end, program.pick(state.vectors)),
                () -> bind(end, program.pick(state.queues)), () -> bind(end, program.pick(state.queues)),
                () -> counters.bind(end), () -> counters.bind(end)));
        Collections.shuffle(bindings, program.random);
        bindings.subList(program.chance(90) ? bindings.size() : 2, bindings.size()).clear(); // some are left half made
        bindings.forEach(Runnable::run);
        enable(end);
    }

    /** A vector, and a counter, a queue for one direction, or both. */
    private void bindLittle(End end) {
        bind(end, program.pick(state.vectors));
        if (program.chance(70)) { counters.bind(end); }
        if (program.chance(50)) {
            bind(end, program.pick(state.queues), false, program.pick(List.of(Direction.values())));
        }
    }

    private void bind(End end, Vector vector) {
        program.note("bind endpoint " + state.ends.indexOf(end) + " to vector " + state.vectors.indexOf(vector));
        if (new Expect("bind(vector)").refused(!end.open || !vector.open, IllegalStateException.class)
                .refused(end.dom != vector.dom, IllegalArgumentException.class)
                .refused(end.vector != null || end.enabled, IllegalStateException.class)
                .run(() -> end.endpoint.bind(vector.vector))) {
            end.vector = vector;
        }
    }

    private void bind(End end, Queue queue) {
        switch (program.random.nextInt(6)) {
            case 0 -> bind(end, queue, false, Direction.TRANSMIT);
            case 1 -> bind(end, queue, false, Direction.RECEIVE);
            case 2 -> {
                bind(end, queue, true, Direction.TRANSMIT);
                bind(end, queue, false, Direction.RECEIVE);
            }
            default -> bind(end, queue, false);
        }
    }

    private void bind(End end, Queue queue, boolean selective, Direction... directions) {
        List<Direction> wanted = List.of(directions.length == 0 ? Direction.values() : directions);
        program.note("bind endpoint " + state.ends.indexOf(end) + " to queue " + state.queues.indexOf(queue) + wanted
                + (selective ? " selectively" : ""));
        boolean taken = wanted.contains(Direction.TRANSMIT) && end.transmit != null
                || wanted.contains(Direction.RECEIVE) && end.receive != null;
        if (new Expect("bind(queue)").refused(!end.open || !queue.open, IllegalStateException.class)
                .refused(end.dom != queue.dom, IllegalArgumentException.class)
                .refused(taken || end.enabled, IllegalStateException.class)
                .run(() -> bind(end.endpoint, queue.queue, selective, directions))) {
            end.selective |= selective;
            end.transmit = wanted.contains(Direction.TRANSMIT) ? queue : end.transmit;
            end.receive = wanted.contains(Direction.RECEIVE) ? queue : end.receive;
        }
    }

    private static Endpoint bind(Endpoint endpoint, CompletionQueue queue, boolean selective, Direction... directions) {
        return selective ? endpoint.bindSelective(queue) : endpoint.bind(queue, directions);
    }

    /** Rule: an endpoint needs a vector, and a queue or a counter. A direction without a queue has a hidden one. */
    private void enable(End end) {
        program.note("enable endpoint " + state.ends.indexOf(end));
        boolean incomplete = end.vector == null || !end.isReported();
        Queue hidden = Queue.hidden();
        Queue transmit = end.transmit == null ? hidden : end.transmit;
        Queue receive = end.receive == null ? hidden : end.receive;
        if (new Expect("enable").refused(!end.open || incomplete || end.enabled, IllegalStateException.class)
                .refused(program.hasQueuesOfTheirOwn() && !incomplete && mustNotBeEnabled(end, transmit, receive),
                        IllegalStateException.class)
                .run(end.endpoint::enable)) {
            end.transmit = transmit;
            end.receive = receive;
            end.vector.prepared.add(transmit);
            end.counts.values().forEach(count -> count.queue = transmit);
            end.becomeEnabled();
        }
    }

    /**
     * Rule: with COMPLETION on tcp of libfabric 2.x, peers are inserted after endpoints were enabled with the same
     * queue, and a counter is for endpoints of one queue.
     */
    private boolean mustNotBeEnabled(End end, Queue transmit, Queue receive) {
        boolean hasPeers = state.peers.stream().anyMatch(peer -> peer.vector == end.vector && !peer.unreachable);
        boolean taken = end.counts.values().stream().anyMatch(count -> count.queue != null && count.queue != transmit);
        return taken || transmit != receive || hasPeers && !end.vector.prepared.contains(transmit);
    }

    private void insert(Vector vector, End end) {
        EndpointAddress address = end != null && end.enabled ? end.address : madeUp();
        boolean known = end != null && end.enabled;
        boolean gone = known && !end.open && program.isShm();
        if (gone && Libfabric.load().version().major() >= 2) { // an absent peer, which may come: nothing to check
            return;
        }
        program.note("insert peer " + state.peers.size() + " into vector " + state.vectors.indexOf(vector) + ": "
                + (known ? "endpoint " + state.ends.indexOf(end) : address));
        Known peer = new Known();
        peer.number = state.peers.size();
        peer.vector = vector;
        peer.end = known ? end : null;
        Expect expect = new Expect("insert").refused(!vector.open, IllegalStateException.class)
                .refused(gone, FabricException.class).tolerated(gone, IllegalStateException.class)
                .tolerated(!known, IllegalArgumentException.class).tolerated(!known, FabricException.class);
        if (expect.run(() -> peer.peer = vector.vector.insert(address))) { state.peers.add(peer); }
    }

    private EndpointAddress madeUp() {
        byte[] bytes = new byte[program.chance(50) ? 16 : 1 + program.random.nextInt(40)];
        program.random.nextBytes(bytes);
        if (program.isShm() && program.chance(50)) {
            bytes = ("fi_shm://" + (1 << 22) + program.random.nextInt(3) + "\0").getBytes(StandardCharsets.US_ASCII);
        } else if (program.chance(70) && bytes.length == 16) { // loopback, a port where nobody listens
            bytes = new byte[]{2, 0, 0, 1, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
        }
        return EndpointAddress.of(bytes);
    }

    private void remove() {
        if (state.peers.isEmpty()) { return; }
        Known peer = program.pick(state.peers);
        Vector vector = program.chance(90) ? peer.vector : program.pick(state.vectors);
        program.note("remove peer " + state.peers.indexOf(peer) + " from vector " + state.vectors.indexOf(vector));
        if (new Expect("remove").refused(!vector.open, IllegalStateException.class)
                .refused(vector != peer.vector || peer.removed, IllegalArgumentException.class)
                .run(() -> vector.vector.remove(peer.peer))) {
            peer.removed = true;
            peer.unreachable = true;
        }
    }

    private void openRegion() {
        if (state.regions.size() >= MAX_REGIONS) { return; }
        Region region = new Region();
        region.dom = program.pick(state.domains);
        Access[] rights = rights();
        region.rights = PackagePrivate.bits(rights);
        region.value = state.regions.size() + 1;
        region.ofCaller = program.chance(50);
        int length = 1 + program.random.nextInt(program.chance(50) ? 64 : ModelMemory.longest(program.seed));
        program.note((region.ofCaller ? "register" : "allocate") + " region " + state.regions.size() + " of " + length
                + " bytes for " + Access.setOf(region.rights) + domain(region));
        if (region.ofCaller) {
            region.memory = ModelMemory.ofCaller(program.arena, length, region.value);
            region.region = region.dom.domain.register(region.memory.segment(), rights);
        } else {
            region.region = region.dom.domain.allocate(length, rights);
            region.memory = ModelMemory.ofRegion(region.region, region.value);
        }
        region.remote = region.region.remote();
        state.regions.add(region);
    }

    private Access[] rights() {
        if (program.chance(60)) {
            return new Access[]{Access.READ, Access.WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE};
        }
        List<Access> some = new ArrayList<>(List.of(Access.values()));
        some.removeIf(right -> program.chance(50));
        return some.isEmpty() ? new Access[]{Access.READ} : some.toArray(Access[]::new);
    }

    /**
     * Closes a region. Rule: memory that peers may still write to is not freed under them; software providers look at
     * the key when a transfer begins and not again. So a target allocated by the library is closed once nobody uses it.
     */
    void close(Region region) {
        boolean isTarget = region.open && (region.rights & PackagePrivate.REMOTE_RIGHTS) != 0;
        if (isTarget && !region.ofCaller) { return; }
        program.note("close region " + state.regions.indexOf(region));
        program.ledger.spoilIfTarget(region);
        program.checkMemory();
        region.region.close();
        region.open = false;
        if (!region.ofCaller && region.region.operationsInFlight() > 0 && !region.memory.segment().scope().isAlive()) {
            throw new AssertionError(region + " was freed under an operation");
        }
    }

    private void close(Queue queue) {
        program.note("close queue " + state.queues.indexOf(queue));
        boolean used = queue.open && state.ends.stream().anyMatch(end -> end.open && end.uses(queue));
        if (new Expect("close(queue)").refused(used, IllegalStateException.class).run(queue.queue::close)) {
            queue.open = false;
            program.ledger.forget(queue);
        }
    }

    private void close(Vector vector) {
        program.note("close vector " + state.vectors.indexOf(vector));
        boolean used = vector.open && state.ends.stream().anyMatch(end -> end.open && end.vector == vector);
        if (new Expect("close(vector)").refused(used, IllegalStateException.class).run(vector.vector::close)) {
            vector.open = false;
        }
    }

    /** Rule: of the software providers, sockets has aliases. */
    private void alias(End end) {
        if (!end.aliases.isEmpty() && program.chance(60)) {
            close(end, program.pick(end.aliases));
            return;
        }
        program.note("alias " + end.aliases.size() + " of endpoint " + state.ends.indexOf(end));
        Alias alias = new Alias();
        Set<OperationFlag> levels = program.chance(50) ? Set.of() : Set.of(OperationFlag.DELIVERY_COMPLETE);
        if (new Expect("alias").refused(!end.works(), IllegalStateException.class)
                .refused(!program.info.provider().equals("sockets"), UnsupportedOperationException.class)
                .run(() -> alias.endpoint = end.endpoint.alias(levels))) {
            alias.rma = alias.endpoint.rma();
            end.aliases.add(alias);
        }
    }

    private void close(End end, Alias alias) {
        program.note("close alias " + end.aliases.indexOf(alias) + " of endpoint " + state.ends.indexOf(end));
        alias.endpoint.close();
        alias.open = false;
    }

    void closeWithAliases(End end) {
        end.aliases.forEach(alias -> close(end, alias));
        close(end);
    }

    void close(End end) {
        program.note("close endpoint " + state.ends.indexOf(end));
        boolean aliased = end.open && end.aliases.stream().anyMatch(alias -> alias.open);
        if (!new Expect("close(endpoint)").refused(aliased, IllegalStateException.class).run(end.endpoint::close)) {
            return;
        }
        end.counts.values().forEach(count -> count.uncertain = true);
        if (end.open && end.enabled && program.isShm()) { // rule: in this process everybody forgets it
            state.peers.stream().filter(peer -> peer.end == end).forEach(peer -> peer.unreachable = true);
        }
        if (end.enabled && !program.isShm()) { // rule: what is under way on a connection fails with it, at both ends
            program.ledger.spoil();
        }
        end.open = false;
    }

    /** Closes what is open below the domains; endpoints are closed already. */
    void closeRest() {
        state.queues.forEach(this::close);
        state.counts.forEach(counters::close);
        state.events.forEach(events::close);
        state.vectors.forEach(this::close);
        for (Region region : state.regions) {
            program.note("close region " + state.regions.indexOf(region));
            region.region.close();
            region.open = false;
        }
    }
}

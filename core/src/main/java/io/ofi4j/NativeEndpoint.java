package io.ofi4j;

import io.ofi4j.internal.CmOps;
import io.ofi4j.internal.DomainOps;
import io.ofi4j.internal.Errno;
import io.ofi4j.internal.FabricConstants;
import io.ofi4j.internal.FidOps;
import io.ofi4j.internal.Handle;
import io.ofi4j.internal.Out;
import io.ofi4j.internal.RmaOps;
import io.ofi4j.internal.RxdRmaOps;
import io.ofi4j.internal.ShmFiles;
import io.ofi4j.internal.ShmRoom;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;

/**
 * An endpoint as its provider has it: bound and enabled in one go, and closed once, in the ways that no provider ends the JVM at;
 * fi_endpoint(3). Its state is the endpoint's, and used under that one's monitor.
 */
final class NativeEndpoint {
    private final Endpoint endpoint;
    private final Domain domain;
    private final Handle handle;
    private final FabricInfo info;
    private final EndpointBindings bindings;
    private final ChosenAddress chosen;
    private EndpointAddress address;
    /** Whether the provider knows a vector of this endpoint. */
    private boolean hasVector;
    private Handle writeCounter;
    private Path shmFile;
    private boolean enabled;
    private boolean closed;

    NativeEndpoint(Endpoint endpoint, Handle handle, EndpointBindings bindings) {
        this.endpoint = endpoint;
        this.domain = endpoint.domain;
        this.handle = handle;
        this.info = endpoint.info();
        this.bindings = bindings;
        this.chosen = new ChosenAddress(info);
    }

    /** @throws IllegalStateException if it has an address already */
    void choose(EndpointAddress wanted) {
        if (enabled) {
            throw new IllegalStateException(endpoint + " is enabled, and has its address: choose one before");
        }
        chosen.choose(wanted);
    }

    boolean isEnabled() {
        return enabled;
    }

    /** @throws IllegalStateException if the provider has closed it while the endpoint is open, since its connection has ended */
    void requireThere() {
        if (closed) {
            throw new IllegalStateException(endpoint + " has lost its connection: open another");
        }
    }

    /**
     * Tells the provider what is bound, and enables it.
     *
     * @throws IllegalStateException if something is not bound, or what is bound does not go together
     */
    void enable() {
        bindings.requireComplete();
        if (enabled) {
            throw new IllegalStateException(endpoint + " is enabled already");
        }
        requireFit();
        chosen.tell(handle);
        try (ShmRoom room = takeRoom()) {
            domain.queues.undisturbed(bindings.vector(), bindings.queues(),
                    () -> bindings.counters.undisturbed(() -> bindAndEnable(room)));
        }
        if (bindings.isOfConnection()) {
            return; // it gets its address as it is connected
        }
        address = nativeAddress();
        if (ShmNeighbours.concerns(info)) {
            shmFile = ShmFiles.remember(address.toBytes()).orElse(null);
            ShmNeighbours.OF_THIS_PROCESS.opened(endpoint);
            if (shmFile != null) {
                ShmWatch.OF_THIS_PROCESS.opened(shmFile);
            }
        }
        synchronized (domain) {
            domain.regions.ofEndpoints().enabled(endpoint);
        }
    }

    private void requireFit() {
        CompletionQueue receiveQueue = bindings.receiveQueue();
        if (domain.hasQueuesOfTheirOwn()) {
            if (bindings.transmitQueue() != receiveQueue) {
                throw new IllegalStateException("with threading model COMPLETION on provider " + info.provider()
                        + ", one completion queue serves both directions of an endpoint");
            }
            bindings.counters.requireServe(receiveQueue);
            bindings.vector().prepare(receiveQueue);
        }
        receiveQueue.requireRoomForReceives(endpoint, Verbs.receives(info));
        bindings.queues().forEach(queue -> bindings.counters.requireOwnerOf(queue.guard));
    }

    /** Of an endpoint of shm; null for others. Where there is a file of its name already, whatever that is, shm would look into it. */
    private ShmRoom takeRoom() {
        if (!ShmNeighbours.concerns(info)) {
            return null;
        }
        ShmRoom room = ShmRoom.take(nativeAddress().toBytes(), info.transmit().size(), info.receive().size());
        if (room.status() == -Errno.EADDRINUSE) {
            throw new FabricException(
                    "fi_enable failed on provider " + info.provider() + ": the name is taken by " + room.file()
                            + ". Another endpoint has it, or a file is in the way: choose another name.",
                    "fi_enable", Errno.EADDRINUSE);
        }
        FabricException.check(room.status(), "fi_enable", info.provider());
        return room;
    }

    /**
     * In one go: shm's insertions and rxm's texts of errors visit every endpoint that is bound, and end the JVM at one that is
     * not enabled.
     */
    private void bindAndEnable(ShmRoom room) {
        bindAll();
        int status = FidOps.fi_enable(handle);
        if (status == 0 && room != null) {
            status = room.complete();
        }
        if (status < 0 && hasVector) { // before the queue is polled: ofi_rxm looks for its own queue, which it did not get
            closed = true;
            closeBound();
            closeWriteCounter();
        }
        FabricException.check(status, "fi_enable", info.provider());
        enabled = true;
        bindings.queues().forEach(CompletionQueue::enabled);
        bindings.counters.enabled(bindings.transmitQueue());
        if (Verbs.receives(info) > 0) {
            bindings.receiveQueue().dataReceives().post(endpoint, handle, Verbs.receives(info));
        }
    }

    private void bindAll() {
        if (bindings.isOfConnection()) {
            bind(bindings.eventQueue().handle(), 0, "fi_ep_bind(event queue)");
        } else {
            bind(bindings.vector().handle(), 0, "fi_ep_bind(address vector)");
            hasVector = true;
        }
        // ofi_rxd takes the first for whether there are descriptors, and where it has none adds the process's standard input
        List<CompletionQueue> queues = bindings.queues().stream()
                .sorted(Comparator.comparing(CompletionQueue::hasWaitObject).reversed()).toList();
        for (CompletionQueue queue : queues) {
            long flags = (queue == bindings.transmitQueue() ? Direction.TRANSMIT.bit() : 0)
                    | (queue == bindings.receiveQueue() ? Direction.RECEIVE.bit() : 0);
            bind(queue.handle(), flags, "fi_ep_bind(completion queue)");
        }
        bindings.counters.forEach((counter, flags) -> bind(counter.handle(), flags, "fi_ep_bind(counter)"));
        if (info.provider().contains("ofi_rxm") && !bindings.counters.has(CounterEvent.WRITE)) {
            bindWriteCounter();
        }
    }

    /**
     * With a counter of writes, ofi_rxm gives an inject a context of its own. Otherwise tcp reports one that has failed, such
     * as to a peer that has ended, with none, and rxm_handle_comp_error ends the JVM.
     */
    private void bindWriteCounter() {
        Out counter = DomainOps.fi_cntr_open(domain.handle(), WaitObject.NONE.value());
        FabricException.check(counter.status(), "fi_cntr_open", info.provider());
        writeCounter = counter.handle();
        bind(writeCounter, Access.WRITE.bit(), "fi_ep_bind(counter)");
    }

    private void bind(Handle other, long flags, String operation) {
        FabricException.check(FidOps.fi_bind(handle, other, flags), operation, info.provider());
    }

    /** Where peers reach it, once it is enabled. */
    EndpointAddress address() {
        synchronized (endpoint) {
            if (bindings.isOfConnection() && !closed) {
                address = nativeAddress();
            }
            if (address == null) {
                requireThere();
            }
            return address;
        }
    }

    private EndpointAddress nativeAddress() {
        CmOps.Name name = CmOps.fi_getname(handle);
        FabricException.check(name.status(), "fi_getname", info.provider());
        return addressOf(name);
    }

    private EndpointAddress addressOf(CmOps.Name name) {
        return EndpointAddress.of(name.address(), info.addressFormat());
    }

    /** The transfers of this endpoint, through its own handle or an alias'. */
    RmaOps rmaOps(Handle through) {
        return RetiredPorts.concerns(info)
                ? new RxdRmaOps(through, info.transmit().injectSize(),
                        () -> bindings.transmitQueue().contexts.inFlightOfEndpoint(endpoint.number))
                : new RmaOps(through);
    }

    /** Takes leave of other endpoints, which posts nothing any more: of those that providers would let look into freed memory. */
    void takeLeave() {
        if (address != null && ShmNeighbours.concerns(info)) {
            ShmNeighbours.OF_THIS_PROCESS.beforeClose(endpoint, shmFile);
        }
        if (hasVector && address != null && NetConnections.concern(info)) {
            NetConnections.end(endpoint);
        }
        if (address != null && RetiredPorts.concerns(info)) {
            RetiredPorts.OF_THIS_PROCESS.add(address);
        }
    }

    /** Closes it once; operations in flight are canceled. */
    int close() {
        synchronized (endpoint) {
            if (closed) {
                return 0;
            }
            if (enabled && bindings.isOfConnection()) {
                CmOps.Name name = CmOps.fi_getname(handle); // it can still be asked for when it cannot be learned any more
                address = name.status() == 0 ? addressOf(name) : address;
            }
            closed = true;
        }
        if (enabled) {
            bindings.queues().forEach(queue -> queue.endpoints().disabled());
        }
        synchronized (domain) {
            domain.regions.ofEndpoints().closing(endpoint);
        }
        int status = closeHandle();
        if (status == 0) {
            closeWriteCounter();
        }
        if (bindings.transmitQueue() != null) {
            bindings.transmitQueue().cancel(endpoint);
        }
        if (enabled && Verbs.receives(info) > 0 && status == 0) {
            bindings.receiveQueue().forgetReceives(endpoint);
        }
        return status;
    }

    private int closeHandle() {
        if (bindings.eventQueue() != null) {
            int status = bindings.eventQueue().closing(endpoint, handle, () -> FidOps.fi_close(handle));
            bindings.requireConnection().endpointClosed();
            return status;
        }
        return hasVector
                ? closeUndisturbed()
                : bindings.isOfConnection() ? FidOps.fi_close(handle) : closeWithoutVector();
    }

    private void closeWriteCounter() {
        if (writeCounter != null) {
            FidOps.fi_close(writeCounter);
        }
    }

    /** ofi_rxm and ofi_rxd make progress on an endpoint while they close it, and end the JVM at what is gone of it already. */
    private int closeUndisturbed() {
        int[] status = new int[1];
        domain.queues.undisturbed(bindings.vector(), bindings.queues(),
                () -> bindings.counters.undisturbed(() -> status[0] = closeBound())); // reading them is progress, too
        return status[0];
    }

    private int closeBound() {
        bindings.queues().forEach(CompletionQueue::closing);
        bindings.counters.closing();
        if (shmFile != null) {
            ShmWatch.OF_THIS_PROCESS.closing(shmFile);
        }
        return FidOps.fi_close(handle);
    }

    /**
     * ofi_rxm and net of libfabric 1.x look into the vector when they close, and end the JVM where there is none; so does tcp of
     * libfabric 2.x with COMPLETION at an endpoint that was not enabled.
     */
    private int closeWithoutVector() {
        Out none = DomainOps.fi_av_open(domain.handle(), FabricConstants.FI_AV_TABLE, 0);
        FabricException.check(none.status(), "fi_av_open", info.provider());
        FidOps.fi_bind(handle, none.handle(), 0);
        int status = domain.hasQueuesOfTheirOwn() ? enableAndClose() : FidOps.fi_close(handle);
        FidOps.fi_close(none.handle());
        return status;
    }

    private int enableAndClose() {
        Out queue = DomainOps.fi_cq_open(domain.handle(), 1, CompletionFormat.DATA.value(), WaitObject.NONE.value(),
                -1);
        FabricException.check(queue.status(), "fi_cq_open", info.provider());
        FidOps.fi_bind(handle, queue.handle(), Direction.TRANSMIT.bit() | Direction.RECEIVE.bit());
        FidOps.fi_enable(handle);
        int status = FidOps.fi_close(handle);
        FidOps.fi_close(queue.handle());
        return status;
    }

    /** What it has left in the file system is gone. */
    void forgetFile() {
        if (shmFile != null) {
            ShmFiles.forget(shmFile);
        }
    }
}

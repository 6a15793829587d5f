package io.ofi4j.jmh;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionHandler;
import io.ofi4j.CompletionQueue;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Fabric;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.info.ThreadingModel;

/** The public API, as a program would use it. */
public class PublicLayer extends Layer implements CompletionHandler {
    static final long TOKEN = 42;

    private Fabric fabric;
    private Domain domain;
    private AddressVector vector;
    private CompletionQueue queue;
    private CompletionQueue targetQueue;
    private Endpoint source;
    private Endpoint target;
    MemoryRegion local;
    private MemoryRegion remoteMemory;
    RemoteRegion remote;
    Peer peer;
    Rma rma;
    private long completed;

    @Override
    void open() {
        FabricHints hints = FabricHints.rma().provider(provider).threading(ThreadingModel.valueOf(threading))
                .controlProgress(ProgressModel.MANUAL).dataProgress(ProgressModel.MANUAL);
        Libfabric libfabric = Libfabric.load();
        FabricInfo info = libfabric.info(sourceNode() == null ? hints : hints.source(sourceNode(), null)).get(0);
        fabric = libfabric.openFabric(info);
        domain = fabric.openDomain();
        queue = domain.openCompletionQueue();
        targetQueue = domain.openCompletionQueue();
        vector = domain.openAddressVector();
        source = domain.openEndpoint().bind(vector).bind(queue).enable();
        target = domain.openEndpoint().bind(vector).bind(targetQueue).enable();
        local = domain.allocate(size, Access.READ, Access.WRITE);
        remoteMemory = domain.allocate(size, Access.REMOTE_READ, Access.REMOTE_WRITE);
        remote = remoteMemory.remote();
        peer = vector.insert(target.address());
        rma = source.rma();
    }

    @Override
    void close() {
        source.close();
        target.close();
        local.close();
        remoteMemory.close();
        vector.close();
        queue.close();
        targetQueue.close();
        domain.close();
        fabric.close();
    }

    @Override
    public long write() {
        while (!rma.tryWrite(local, 0, size, peer, remote, 0, TOKEN)) {
            makeProgress();
        }
        return await();
    }

    @Override
    public long read() {
        while (!rma.tryRead(local, 0, size, peer, remote, 0, TOKEN)) {
            makeProgress();
        }
        return await();
    }

    final long await() {
        while (queue.poll(this, BATCH) == 0) {
            targetQueue.poll(this, BATCH);
        }
        return completed;
    }

    @Override
    void postInject() {
        while (!rma.tryInjectWrite(local, 0, size, peer, remote, 0)) {
            makeProgress();
        }
    }

    @Override
    void makeProgress() {
        targetQueue.poll(this, BATCH);
        queue.poll(this, BATCH);
    }

    @Override
    public int poll() { return queue.poll(this, BATCH); }

    @Override
    public void onCompletion(long token, long flags, long length, long data) { completed = token; }
}

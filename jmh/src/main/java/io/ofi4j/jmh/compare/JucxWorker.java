package io.ofi4j.jmh.compare;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.openucx.jucx.UcxCallback;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpMemMapParams;
import org.openucx.jucx.ucp.UcpMemory;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRemoteKey;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/** UCX's Java binding, for orientation: puts with completion between two workers of one process, over shared memory. */
final class JucxWorker {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long ROOM = 1 << 20;

    private final UcxCallback callback = new UcxCallback();
    private UcpWorker here;
    private UcpWorker there;
    private UcpEndpoint endpoint;
    private UcpMemory local;
    private UcpMemory remote;
    private UcpRemoteKey key;

    private JucxWorker() {}

    /** Obeys until stdin ends; what is open is the process's to close. */
    public static void main(String[] arguments) throws InterruptedException {
        Commands.obey(new JucxWorker()::obey);
    }

    private String obey(String[] words) {
        try {
            return words[0].equals("open") ? open() : put(Long.parseLong(words[2]), Long.parseLong(words[4]));
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private String open() {
        UcpContext context;
        try {
            context = new UcpContext(new UcpParams().requestRmaFeature().setConfig("TLS", "shm"));
        } catch (UnsatisfiedLinkError | NoClassDefFoundError e) {
            return "absent";
        }
        here = context.newWorker(new UcpWorkerParams());
        there = context.newWorker(new UcpWorkerParams());
        local = context.memoryMap(new UcpMemMapParams().allocate().setLength(ROOM));
        remote = context.memoryMap(new UcpMemMapParams().allocate().setLength(ROOM));
        endpoint = here.newEndpoint(new UcpEndpointParams().setUcpAddress(there.getAddress()));
        key = endpoint.unpackRemoteKey(remote.getRemoteKeyBuffer());
        return "ok";
    }

    private String put(long size, long count) throws Exception {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        long start = System.nanoTime();
        for (long done = 0; done < count; done++) {
            UcpRequest request = endpoint.putNonBlocking(local.getAddress(), size, remote.getAddress(), key, callback);
            while (!request.isCompleted()) {
                here.progress();
                there.progress();
            }
        }
        long time = System.nanoTime() - start;
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        return "ok " + time + " " + allocated;
    }
}

package io.ofi4j.internal;

/** Spin locks between processes, for which a call into a provider may wait as long as another process pleases. */
public final class ShmLocks {
    private ShmLocks() {
    }

    /** Whether a provider has such: shm of libfabric 1.x. */
    public static boolean concern(String provider) {
        return provider.contains("shm") && !FabricCalls.isTwo();
    }
}

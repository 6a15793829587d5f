package io.ofi4j;

import io.ofi4j.internal.NativeMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * What peers may still be writing to and reading from when its region is closed: providers in software look at the key when a
 * transfer begins, and copy afterwards, so that memory which is freed meanwhile is somebody else's, or a signal. It stays until
 * the domain's last endpoint is closed. Its pages go back to the system at once.
 */
final class LingeringMemory {
    /** Whose adapter does not touch what is no longer registered. */
    private static final String ADAPTER = "verbs";

    private final boolean lingers;
    private final List<Arena> memory = new ArrayList<>();
    private int endpoints;

    LingeringMemory(FabricInfo info) {
        lingers = !info.provider().startsWith(ADAPTER);
    }

    /** Memory that is gone for the application when an arena is closed. */
    MemorySegment allocate(long length, long alignment, Arena arena, long accessBits) {
        if (!lingers(accessBits)) {
            return arena.allocate(length, alignment);
        }
        Arena own = Arena.ofShared();
        try {
            MemorySegment all = own.allocate(length, alignment);
            return NativeMemory.view(all, arena, () -> release(own, all));
        } catch (Throwable t) {
            own.close();
            throw t;
        }
    }

    private boolean lingers(long accessBits) {
        return lingers && (accessBits & Access.REMOTE) != 0;
    }

    /** Closes an arena, now or when no peer can reach it any more. */
    private synchronized void release(Arena arena, MemorySegment content) {
        if (endpoints == 0) {
            arena.close();
            return;
        }
        NativeMemory.discard(content);
        memory.add(arena);
    }

    /** Closes the arena of a file's mapping, as the other. */
    void release(Arena arena, MemorySegment content, long accessBits) {
        if (lingers(accessBits)) {
            release(arena, content);
        } else {
            arena.close();
        }
    }

    synchronized void endpointOpened() {
        endpoints++;
    }

    synchronized void endpointClosed() {
        endpoints--;
        if (endpoints == 0) {
            memory.forEach(Arena::close);
            memory.clear();
        }
    }
}

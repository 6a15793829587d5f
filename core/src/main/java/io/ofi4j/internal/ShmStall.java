package io.ofi4j.internal;

import java.io.IOException;

/**
 * What another process may leave in the memory of an shm endpoint of this one, if it is killed while it posts, so that nobody who
 * posts later gets on.
 */
interface ShmStall {
    /** Whether it has been there, and nothing has moved, since the last look. */
    boolean isStill();

    /**
     * Whether none of the suspects can be about to end it himself.
     *
     * @throws IOException if that cannot be found out now
     */
    boolean isNoneOf(LockSuspects suspects) throws IOException;

    /** Ends it. Whoever has left it is dead: until then nobody else changes anything. */
    void end();
}

package io.ofi4j.command.perf;

/** The end whose memory is written and read, in this process or in another. */
interface Target extends AutoCloseable {
    /** Makes progress for it where it cannot do that by itself. {@return whether there was anything} */
    boolean progress();

    /** Called now and then while nothing happens; throws if it has gone. */
    void watch();

    /** Empties its memory, or fills it with the seed's bytes. */
    void prepare(Layout layout, boolean fill, long seed);

    /** {@return how many slots do not hold the seed's bytes, after some patience for what is on its way} */
    int damaged(Layout layout, long seed);

    /** The measurement is over. */
    @Override
    void close();
}

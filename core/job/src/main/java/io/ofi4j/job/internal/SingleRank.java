package io.ofi4j.job.internal;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The only rank of a job. */
final class SingleRank implements JobEngine {
    private final String name;
    private final Map<String, byte[]> values = new ConcurrentHashMap<>();

    SingleRank(String name) { this.name = name; }

    @Override
    public String name() { return name; }

    @Override
    public int rank() { return 0; }

    @Override
    public int size() { return 1; }

    @Override
    public void put(String key, byte[] value, Deadline deadline) { values.put(key, value.clone()); }

    @Override
    public byte[] get(int rank, String key, Wait wait) {
        byte[] value = values.get(key);
        if (value == null) { throw new LauncherException("the value was not put, and a job of one has no other rank"); }
        return value.clone();
    }

    @Override
    public List<byte[]> gather(byte[] value, Wait wait) { return List.of(value.clone()); }

    @Override
    public void barrier(Wait wait) {
        // All have come.
    }

    @Override
    public LauncherException lost() { return null; }

    @Override
    public void leave(Deadline deadline, String why) {
        // Nobody waits for it.
    }

    @Override
    public void abort(int code, String why) {
        // Nobody else is there.
    }
}

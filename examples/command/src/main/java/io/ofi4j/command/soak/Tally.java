package io.ofi4j.command.soak;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a soak has done and found so far. */
final class Tally {
    private static final int MOST_TOLD = 10;

    long rounds;
    long operations;
    long bytes;
    long verifiedBytes;
    long canceled;
    long failed;
    long regionsClosed;
    long slowestRecoveryNanos;
    /** Of queues whose endpoints were closed. */
    long slotsTaken;
    /** After the last round. */
    long regionsOpen;
    /** Files in /dev/shm, all of them. */
    long leftByKilled;
    private final Map<String, Long> faults = new LinkedHashMap<>();
    private final List<String> mismatches = new ArrayList<>();
    private long mismatchCount;

    void fault(String kind) { faults.merge(kind, 1L, Long::sum); }

    void mismatch(String what) {
        mismatchCount++;
        if (mismatches.size() < MOST_TOLD) { mismatches.add(what); }
    }

    void recovered(long nanos) { slowestRecoveryNanos = Math.max(slowestRecoveryNanos, nanos); }

    Map<String, Long> faults() { return faults; }

    long faultCount() { return faults.values().stream().mapToLong(Long::longValue).sum(); }

    long mismatchCount() { return mismatchCount; }

    List<String> mismatches() { return mismatches; }
}

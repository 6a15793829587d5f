package io.ofi4j.job.internal;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * A job whose ranks PMIx connects: mpirun of Open MPI, {@code srun --mpi=pmix}, PRRTE. Values are keys of PMIx, and a
 * barrier is a fence.
 *
 * <p>No key is put twice: PMIx keeps what a rank has read, and its shared memory can be read while a key is replaced.
 * Each fence therefore carries all that its ranks have ever put. A barrier puts nothing, unless it takes long: then its
 * rank leaves a mark, from which the others see whom they wait for.
 *
 * <p>A fence that succeeds does not prove that all ranks came, because servers leave out those that have died. A
 * gathering reads the value of each rank. Those are its proof.
 */
final class PmixEngine implements JobEngine {
    private static final String VALUE = "ofi4j/";
    private static final String GATHERING = "ofi4j-gathering/";
    private static final String MARK = "ofi4j-barrier/";
    /** What a rank leaves that cannot go on: why. */
    private static final String GAVE_UP = "ofi4j-gave-up";
    private static final byte[] NO_DATA = {};
    /** How long a rank is in a barrier before it leaves its mark. */
    private static final Duration MARK_TIME = Duration.ofMillis(250);
    /** The time to find out who has not come, beyond the deadline. */
    private static final Duration DIAGNOSIS_TIME = Duration.ofMillis(600);
    /** How long one look of that time waits for ranks that have put nothing. */
    private static final Duration LOOK_TIME = Duration.ofMillis(200);

    private final Pmix pmix;
    private final int rank;
    private final int size;
    private long barriers;
    private long gatherings;
    private volatile LauncherException lost;

    private PmixEngine(Pmix pmix) {
        this.pmix = pmix;
        this.rank = pmix.rank();
        this.size = pmix.jobSize();
        pmix.onLoss(this::lose);
    }

    static PmixEngine join(Deadline deadline) {
        return HelperThread.within(deadline, () -> new PmixEngine(NativeCalls.require(Pmix::new)));
    }

    private void lose(int other) {
        if (other >= 0 && other < size && other != rank && lost == null) {
            lost = new LauncherException(List.of(other), "ended without leaving");
        }
    }

    @Override
    public String name() { return "PMIx"; }

    @Override
    public int rank() { return rank; }

    @Override
    public int size() { return size; }

    @Override
    public void put(String name, byte[] value, Deadline deadline) { pmix.put(VALUE + name, value); }

    /**
     * A server may wait for a rank's first values, or say at once that there is no such key. Then it is asked again.
     */
    @Override
    public byte[] get(int owner, String name, Wait wait) {
        byte[] value = wait.lookUntilFound(looks -> {
            Pmix.Request request = pmix.get(owner, VALUE + name, seconds(wait.deadline()), isRefreshed(looks));
            boolean isFound = wait.until(request.answered()) && request.value() != null;
            if (!isFound && lost != null) { throw lost; }
            return isFound ? request.value() : null;
        });
        if (value == null) { throw LauncherException.noValue(owner, wait.deadline()); }
        return value;
    }

    /**
     * {@return whether the client's library is to ask the server anew} PMIx 4 needs that where it knows other values of
     * the rank. PMIx 5 finds no new value of a rank of the same node so, but does without. Every second look has it.
     */
    private static boolean isRefreshed(int looks) { return looks % 2 == 1; }

    /** PMIx counts whole seconds. This object's own deadline ends first. */
    private static int seconds(Deadline deadline) {
        return (int) Math.min(deadline.left().toSeconds() + 2, Integer.MAX_VALUE);
    }

    @Override
    public void barrier(Wait wait) {
        if (lost != null) { throw lost; }
        String key = MARK + barriers++;
        Pmix.Request fence = pmix.fence(seconds(wait.deadline()));
        boolean isShort = new Wait(wait.deadline().atMost(MARK_TIME), wait.progress()).until(fence.answered());
        if (isShort && fence.status() == Pmix.SUCCESS) { return; }
        pmix.put(key, NO_DATA);
        awaitFence(fence, key, wait);
        if (fence.status() != Pmix.SUCCESS) { throw gone(key, fence); }
    }

    /** Waits until a fence has ended, well or not. */
    private void awaitFence(Pmix.Request fence, String key, Wait wait) {
        if (!wait.until(fence.answered()) || fence.status() == Pmix.TIMEOUT) { throw late(key, wait); }
    }

    private LauncherException late(String key, Wait wait) {
        return lost(key, missing -> LauncherException.late(missing, wait.deadline()));
    }

    private LauncherException gone(String key, Pmix.Request fence) {
        String what = "ended, or left already: PMIx_Fence ended with " + pmix.text(fence.status());
        return lost(key,
                missing -> missing.isEmpty()
                        ? new LauncherException(
                                "PMIx_Fence has failed, and all ranks came to it: use a longer deadline")
                        : new LauncherException(missing, what));
    }

    @Override
    public List<byte[]> gather(byte[] value, Wait wait) {
        if (lost != null) { throw lost; }
        String key = GATHERING + gatherings++;
        pmix.put(key, value);
        Pmix.Request fence = pmix.fence(seconds(wait.deadline()));
        awaitFence(fence, key, wait);
        byte[][] values = new byte[size][];
        List<byte[]> all = wait.lookUntilFound(looks -> {
            if (read(key, values, wait, isRefreshed(looks)).isEmpty()) { return List.of(values); }
            if (fence.status() != Pmix.SUCCESS) { throw gone(key, fence); }
            if (lost != null) { throw lost; }
            return null;
        });
        if (all == null) { throw late(key, wait); }
        return all;
    }

    /** Reads the values that are not here yet. Returns the ranks whose values are still not here. */
    private List<Integer> read(String key, byte[][] values, Wait wait, boolean refresh) {
        List<Integer> missing = missing(values);
        List<Pmix.Request> requests = missing.stream()
                .map(other -> pmix.get(other, key, seconds(wait.deadline()), refresh)).toList();
        for (int i = 0; i < requests.size(); i++) {
            if (wait.until(requests.get(i).answered())) { values[missing.get(i)] = requests.get(i).value(); }
        }
        return missing(values);
    }

    private static List<Integer> missing(byte[][] values) {
        return IntStream.range(0, values.length).filter(rank -> values[rank] == null).boxed().toList();
    }

    /**
     * {@return why the job cannot go on} It finds out which ranks have not put this key, as far as their servers say.
     */
    private LauncherException lost(String key, Function<List<Integer>, LauncherException> why) {
        if (lost != null) { return lost; }
        byte[][] values = new byte[size][];
        Deadline end = Deadline.in(DIAGNOSIS_TIME);
        new Wait(end, null).lookUntilFound(looks -> { // others may be about to leave their marks
            Wait look = new Wait(end.atMost(LOOK_TIME), null);
            return read(key, values, look, isRefreshed(looks)).isEmpty() ? values : null;
        });
        List<Integer> missing = missing(values);
        LauncherException gaveUp = gaveUp();
        lost = gaveUp != null ? gaveUp : why.apply(missing);
        return lost;
    }

    /**
     * {@return what the first rank has left that gave up, or null} It may have left before this one came. With the time
     * before, two looks end within a second.
     */
    private LauncherException gaveUp() {
        for (int refresh = 0; refresh < 2; refresh++) {
            byte[][] reasons = new byte[size][];
            read(GAVE_UP, reasons, new Wait(Deadline.in(LOOK_TIME), null), isRefreshed(refresh));
            for (int other = 0; other < size; other++) {
                if (other != rank && reasons[other] != null) {
                    return new LauncherException(List.of(other),
                            "gave up: " + new String(reasons[other], StandardCharsets.UTF_8));
                }
            }
        }
        return null;
    }

    @Override
    public LauncherException lost() { return lost; }

    @Override
    public void leave(Deadline deadline, String why) {
        HelperThread.within(deadline, () -> {
            if (why != null) { pmix.put(GAVE_UP, why.getBytes(StandardCharsets.UTF_8)); }
            pmix.finish();
            return null;
        });
    }

    @Override
    public void abort(int code, String why) { pmix.abort(code, why); }
}

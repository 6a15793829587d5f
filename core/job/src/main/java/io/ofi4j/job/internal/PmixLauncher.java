package io.ofi4j.job.internal;

/** A server of PMIx: mpirun of Open MPI, {@code srun --mpi=pmix}, PRRTE. */
final class PmixLauncher implements Launcher {
    private static final String KEY = "ofi4j.meeting";

    private final Pmix pmix = NativeCalls.require(Pmix::new);
    private final int size = pmix.jobSize();

    @Override
    public String name() { return "PMIx"; }

    @Override
    public int rank() { return pmix.rank(); }

    @Override
    public int size() { return size; }

    @Override
    public String exchange(String line) {
        if (rank() == 0) { pmix.put(KEY, line); }
        pmix.fence();
        return pmix.text(0, KEY);
    }

    @Override
    public void finish() { pmix.finish(); }

    @Override
    public void abort(int code, String why) { pmix.abort(code, why); }
}

package io.ofi4j.job.internal;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.function.Function;

/**
 * Finds out from the environment how this process was started. Variables that a person sets come first. A variable that
 * tells of more than one process is never ignored.
 */
public final class Launchers {
    private static final String RANK = "OFI4J_RANK";
    private static final String SIZE = "OFI4J_SIZE";
    private static final String RENDEZVOUS = "OFI4J_RENDEZVOUS";
    private static final String SECRET = "OFI4J_SECRET";
    /** Variables of launchers with the number of processes, and what to do if the launcher cannot be reached. */
    private static final Map<String, String> COUNTS = Map.of("SLURM_NTASKS",
            "Start it with 'srun --mpi=pmix' or 'srun --mpi=pmi2'", "OMPI_COMM_WORLD_SIZE",
            "Start it with an mpirun that offers PMIx, as Open MPI's does from 4.0 on", "PMI_SIZE",
            "Start it with Hydra's mpiexec, without '-pmi-port'", "FLUX_JOB_SIZE", "Start it with 'flux run'");

    private static final int MAX_PORT = 65_535;

    private Launchers() {}

    /** {@return whether a launcher or a person says that this process is one of a job} */
    public static boolean isStarted(Map<String, String> environment) {
        boolean isExplicit = environment.containsKey(RANK) || environment.containsKey(SIZE);
        return isExplicit ? !"1".equals(environment.get(SIZE)) : isOfPmix(environment) || isOfPmi1(environment);
    }

    private static boolean isOfPmix(Map<String, String> environment) {
        return environment.containsKey("PMIX_NAMESPACE") && environment.containsKey("PMIX_RANK");
    }

    private static boolean isOfPmi1(Map<String, String> environment) { return environment.containsKey("PMI_FD"); }

    /**
     * {@return the engine of the job of this process}
     *
     * @param meet joins a job whose ranks meet at rank 0
     */
    public static JobEngine find(Map<String, String> environment, Deadline deadline,
            Function<Meeting, JobEngine> meet) {
        if (environment.containsKey(RANK) || environment.containsKey(SIZE)) {
            Meeting meeting = explicit(environment);
            return meeting.size() == 1 ? new SingleRank(meeting.name()) : meet.apply(meeting);
        }
        if (isOfPmix(environment) && isOfPmi1(environment)) {
            throw new LauncherException("PMIX_NAMESPACE says that PMIx, as of mpirun, started this process, and PMI_FD"
                    + " that Hydra's mpiexec or 'srun --mpi=pmi2' did: one launcher has started the other. Use one of"
                    + " them, or remove the variables of the other: 'env -u PMIX_NAMESPACE' or 'env -u PMI_FD'.");
        }
        if (isOfPmix(environment)) { return PmixEngine.join(deadline); }
        if (isOfPmi1(environment)) {
            int rank = number(environment, "PMI_RANK");
            int size = number(environment, "PMI_SIZE");
            return Pmi1Engine.join(new Pmi1Descriptor(number(environment, "PMI_FD")), rank, size, deadline);
        }
        COUNTS.forEach((name, remedy) -> requireOne(environment, name, remedy));
        return new SingleRank("no launcher: a single process");
    }

    private static void requireOne(Map<String, String> environment, String name, String remedy) {
        String value = environment.get(name);
        if (value != null && !value.strip().equals("1")) {
            throw new LauncherException(
                    name + " says that there are " + value + " processes, and this process cannot reach the others. "
                            + remedy + ", or set " + SIZE + "=1 and " + RANK + "=0 to run as a single process.");
        }
    }

    private static Meeting explicit(Map<String, String> environment) {
        int rank = number(environment, RANK);
        int size = number(environment, SIZE);
        if (rank >= size) {
            throw new LauncherException(RANK + " is " + rank + ", and must be below " + SIZE + ", " + size);
        }
        if (size == 1) { return new Meeting(SIZE + "=1", rank, size, null, null); }
        String at = text(environment, RENDEZVOUS);
        int colon = at.lastIndexOf(':');
        if (colon < 1 || !at.substring(colon + 1).matches("\\d{1,5}")
                || Integer.parseInt(at.substring(colon + 1)) > MAX_PORT
                || Integer.parseInt(at.substring(colon + 1)) == 0) {
            throw new LauncherException(RENDEZVOUS + " must be the host of rank 0 and a free port there, as in "
                    + "node1:7471, and is '" + at + "'");
        }
        String host = at.substring(0, colon).replaceAll("[\\[\\]]", "");
        InetSocketAddress address = new InetSocketAddress(host, Integer.parseInt(at.substring(colon + 1)));
        if (address.isUnresolved()) {
            throw new LauncherException(
                    "the host of " + RENDEZVOUS + ", " + host + ", is not known: is its name right?");
        }
        return new Meeting(RENDEZVOUS + "=" + at, rank, size, rank == 0 ? listenAt(host, address) : address,
                text(environment, SECRET));
    }

    /**
     * {@return where rank 0 listens} Many machines give their own name an address like 127.0.1.1, at which no other one
     * comes.
     */
    private static InetSocketAddress listenAt(String host, InetSocketAddress address) {
        boolean isNumber = host.matches("[0-9.]+|.*:.*");
        return address.getAddress().isLoopbackAddress() && !isNumber && !host.equals("localhost")
                ? new InetSocketAddress(address.getPort())
                : address;
    }

    private static int number(Map<String, String> environment, String name) {
        String value = text(environment, name);
        if (!value.matches("\\d{1,7}")) {
            throw new LauncherException(name + " must be a number, and is '" + value + "'");
        }
        return Integer.parseInt(value);
    }

    private static String text(Map<String, String> environment, String name) {
        String value = environment.get(name);
        if (value == null) {
            String prefix = name.substring(0, name.indexOf('_') + 1);
            throw new LauncherException(name + " is not set, but the other variables " + prefix + "* need it");
        }
        return value;
    }
}

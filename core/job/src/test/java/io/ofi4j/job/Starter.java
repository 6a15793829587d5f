package io.ofi4j.job;

import io.ofi4j.support.Forked;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Who starts the ranks of a job: this project's script, and the launchers that a machine may have. */
enum Starter {
    LAUNCH("../../scripts/launch", "RANKS", "--"),
    OPEN_MPI("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "RANKS"),
    HYDRA("mpiexec.hydra", "-n", "RANKS"),
    SLURM_PMIX("srun", "--mpi=pmix", "-N2", "-n", "RANKS"),
    SLURM_PMI2("srun", "--mpi=pmi2", "-N2", "-n", "RANKS");

    private final List<String> command;

    Starter(String... command) { this.command = List.of(command); }

    boolean isSlurm() { return command.getFirst().equals("srun"); }

    boolean isPmi1() { return this == HYDRA || this == SLURM_PMI2; }

    /** What the others are told when a rank has died, as a pattern: who serves them, the fence, or the deadline. */
    String lossOf(int rank) {
        String its = "rank " + rank + " \\(process \\d+ on .*\\) ";
        return switch (this) {
            case LAUNCH -> its + "has ended without leaving";
            case OPEN_MPI, SLURM_PMIX -> its + "(ended, or left already|ended without leaving|did not come within)";
            case HYDRA, SLURM_PMI2 -> "a rank has not come, or has gone"; // PMI-1 does not know which
        };
    }

    /** Slurm's ranks are not told: they know it when their deadline has passed. */
    int secondsUntilLossIsKnown() {
        return isSlurm() ? 5 : 20;
    }

    /** Why it cannot be had here, or an empty text. */
    String obstacle() {
        List<String> programs = isSlurm() ? List.of("srun", "slurmd", "slurmctld") : List.of(command.getFirst());
        List<String> missing = programs.stream().filter(program -> !isThere(program)).toList();
        if (!missing.isEmpty()) { return missing + " is not installed"; }
        if (this == SLURM_PMIX && !hasPmix()) { return "Slurm's plugin for PMIx loads libpmix.so (libpmix-dev)"; }
        return isSlurm() && !System.getProperty("user.name").equals("root") ? "slurmd needs root" : "";
    }

    private static boolean hasPmix() {
        try (Stream<Path> files = Files.find(Path.of("/usr/lib"), 4,
                (file, _) -> file.getFileName().toString().equals("libpmix.so"))) {
            return files.findAny().isPresent();
        } catch (IOException | UncheckedIOException e) {
            return false; // a folder that is not ours to look into
        }
    }

    private static boolean isThere(String program) {
        Stream<String> folders = Arrays.stream((System.getenv("PATH") + ":/usr/sbin:/sbin").split(File.pathSeparator));
        return program.contains("/")
                || folders.anyMatch(folder -> Files.isExecutable(Path.of(folder).resolve(program)));
    }

    /** Starts so many ranks. */
    Forked.Result run(SlurmCluster cluster, int ranks, String... arguments) {
        return Forked.startBehind(prefix(cluster, ranks), JobRank.class, arguments).await();
    }

    /** {@return the command that starts so many ranks of another command} */
    List<String> prefix(SlurmCluster cluster, int ranks) {
        List<String> prefix = new ArrayList<>();
        if (isSlurm()) { prefix.addAll(List.of("env", "SLURM_CONF=" + cluster.configuration())); }
        command.forEach(word -> prefix.add(word.equals("RANKS") ? Integer.toString(ranks) : word));
        return prefix;
    }
}

package io.ofi4j.job;

import io.ofi4j.Waiting;
import io.ofi4j.job.JobTest.Output;
import io.ofi4j.support.Patience;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Slurm with two nodes on this machine, for root: a controller and two slurmd, each at ports of its own. */
final class SlurmCluster implements AutoCloseable {
    private static final String CONFIGURATION = """
            ClusterName=ofi4j
            SlurmctldHost=%1$s(127.0.0.1)
            SlurmctldPort=%3$d
            SlurmUser=root
            AuthType=auth/none
            CredType=cred/none
            ProctrackType=proctrack/linuxproc
            TaskPlugin=task/none
            SelectType=select/cons_tres
            SelectTypeParameters=CR_CPU
            SlurmdParameters=config_overrides
            ReturnToService=2
            KillWait=5
            MpiDefault=none
            StateSaveLocation=%2$s/state
            SlurmdSpoolDir=%2$s/spool-%%n
            TmpFS=%2$s/tmp-%%n
            SlurmctldPidFile=%2$s/controller.pid
            SlurmdPidFile=%2$s/%%n.pid
            SlurmctldLogFile=%2$s/controller.log
            SlurmdLogFile=%2$s/%%n.log
            NodeName=n0 NodeHostname=%1$s NodeAddr=127.0.0.1 Port=%4$d CPUs=8 State=UNKNOWN
            NodeName=n1 NodeHostname=%1$s NodeAddr=127.0.0.1 Port=%5$d CPUs=8 State=UNKNOWN
            PartitionName=all Nodes=n0,n1 Default=YES MaxTime=INFINITE State=UP
            """;

    private final Path folder;
    private final Path file;
    /** The controller first; it is stopped last. */
    private final List<Process> daemons = new ArrayList<>();

    SlurmCluster() throws IOException {
        folder = Files.createTempDirectory("ofi4j-slurm");
        file = folder.resolve("slurm.conf");
        for (String name : List.of("state", "spool-n0", "spool-n1", "tmp-n0", "tmp-n1")) {
            Files.createDirectory(folder.resolve(name));
        }
        String host = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        Files.writeString(file,
                CONFIGURATION.formatted(host.split("[.]")[0], folder, freePort(), freePort(), freePort()));
        start("slurmctld", "-D", "-f", file.toString());
        start("slurmd", "-D", "-N", "n0", "-f", file.toString());
        start("slurmd", "-D", "-N", "n1", "-f", file.toString());
        try {
            Waiting.BACKOFF.until(this::isReady, Patience.seconds(30));
        } catch (RuntimeException e) {
            String logs = Output.of(List.of("tail", "-n", "20", folder + "/controller.log", folder + "/n0.log"), file);
            close();
            throw new AssertionError("Slurm did not start: " + logs, e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void start(String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(folder.resolve(daemons.size() + ".out").toFile());
        builder.environment().put("SLURM_CONF", file.toString());
        builder.environment().merge("PATH", "/usr/sbin:/sbin", (path, more) -> path + File.pathSeparator + more);
        daemons.add(builder.start());
    }

    private boolean isReady() { return Output.of(List.of("sinfo", "-h", "-o", "%T %D"), file).contains("idle 2"); }

    Path configuration() { return file; }

    @Override
    public void close() throws IOException {
        for (Process daemon : daemons.reversed()) {
            daemon.destroy();
            try {
                if (!daemon.waitFor(20, TimeUnit.SECONDS)) { daemon.destroyForcibly(); }
            } catch (InterruptedException e) {
                daemon.destroyForcibly();
            }
        }
        try (var files = Files.walk(folder)) {
            files.sorted(java.util.Comparator.reverseOrder()).forEach(one -> one.toFile().delete());
        }
    }
}

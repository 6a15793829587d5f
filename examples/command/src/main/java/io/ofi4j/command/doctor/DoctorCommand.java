package io.ofi4j.command.doctor;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import io.ofi4j.command.Descriptor;
import io.ofi4j.command.Columns;
import io.ofi4j.command.doctor.Finding.Level;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code ofi4j doctor}. */
@Command(name = "doctor", description = "Says whether this machine is ready for ofi4j and what to do, on one screen.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:ready", "1:not ready; the lines with '!!' say why", "2:the command line is wrong"})
public final class DoctorCommand implements Callable<Integer> {
    @Option(names = "--json", description = "Print a JSON object.")
    private boolean json;

    @Option(names = {"-v", "--verbose"},
            description = "Print everything, in lines of any length, and list the quirks of providers: on or off, and why.")
    private boolean verbose;

    @Option(names = "--clean",
            description = "First remove the files that shm endpoints of killed processes left in /dev/shm.")
    private boolean clean;

    @Option(names = "--deep",
            description = "Also try what moves bytes, with the trials of 'ofi4j verify', over each provider of this"
                    + " machine, and say what is wrong. It takes some minutes.")
    private boolean deep;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        List<Path> removed = clean ? AbandonedShmFiles.remove() : List.of();
        List<Finding> findings = new ArrayList<>(JavaChecks.all());
        findings.addAll(LibfabricChecks.all());
        if (verbose || json) { findings.addAll(LibfabricChecks.quirks()); }
        findings.addAll(SystemChecks.all());
        if (deep) {
            findings.addAll(LibfabricChecks.deep(provider -> {
                spec.commandLine().getErr().println("ofi4j: trying " + provider);
                spec.commandLine().getErr().flush();
            }));
        }
        boolean ready = findings.stream().noneMatch(finding -> finding.level() == Level.PROBLEM);
        if (json) {
            out.println(json(findings, removed, ready));
        } else {
            if (clean && removed.isEmpty()) {
                out.println("nothing to remove: no killed process left a file in /dev/shm");
            }
            removed.forEach(file -> out.println("removed " + file));
            (verbose
                    ? Screen.whole(findings)
                    : Screen.fitting(findings, Math.min(Columns.USUAL, Columns.of(Descriptor.OUTPUT))))
                    .forEach(out::println);
            out.println(ready ? "ready" : "not ready");
        }
        out.flush();
        return ready ? 0 : 1;
    }

    private static String json(List<Finding> findings, List<Path> removed, boolean ready) {
        var gson = new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();
        JsonObject json = new JsonObject();
        json.addProperty("ready", ready);
        json.add("removed", gson.toJsonTree(removed.stream().map(Path::toString).toList()));
        json.add("findings", gson.toJsonTree(findings));
        return gson.toJson(json);
    }
}

package io.ofi4j.command.top;

import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The JVMs of this user that have loaded libfabric, found without disturbing any: by what the kernel has mapped. */
final class Jvms {
    /**
     * A JVM.
     *
     * @param pid the number of its process
     * @param command its main class or jar, and the arguments
     */
    record Jvm(long pid, String command) {}

    private Jvms() {}

    static List<Jvm> withLibfabric() {
        long own = ProcessHandle.current().pid();
        return VirtualMachine.list().stream().map(jvm -> new Jvm(Long.parseLong(jvm.id()), jvm.displayName()))
                .filter(jvm -> jvm.pid != own).filter(jvm -> hasLibfabric(jvm.pid)).toList();
    }

    /** {@return what JVMs say of a process, or nothing where it is none of this user's} */
    static String command(long pid) {
        return VirtualMachine.list().stream().filter(jvm -> jvm.id().equals(Long.toString(pid)))
                .map(jvm -> jvm.displayName()).findFirst().orElse("");
    }

    private static boolean hasLibfabric(long pid) {
        try (Stream<String> mappings = Files.lines(Path.of("/proc", Long.toString(pid), "maps"))) {
            return mappings.anyMatch(line -> line.substring(line.lastIndexOf('/') + 1).contains("libfabric"));
        } catch (IOException | java.io.UncheckedIOException e) {
            return false; // it has ended, or is another user's
        }
    }
}

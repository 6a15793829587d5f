package io.ofi4j.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where the standard output and the standard error of this process lead. */
public enum Descriptor {
    OUTPUT(1), ERROR(2);

    private final Path link;

    Descriptor(int number) { link = Path.of("/proc/self/fd", Integer.toString(number)); }

    /** {@return whether somebody looks at it} */
    public boolean isTerminal() {
        return target().matches("/dev/(pts/|tty|console).*");
    }

    boolean isPipe() { return target().startsWith("pipe:"); }

    /** Nothing where it is closed. */
    private String target() {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException | UnsupportedOperationException e) {
            return "";
        }
    }
}

package io.ofi4j.command;

import io.ofi4j.Libfabric;
import io.ofi4j.errors.LibfabricNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** Which ofi4j this is, and which libfabric it finds. */
public final class Release implements IVersionProvider {
    /** ofi4j's version, such as 0.1.0. */
    public static final String VERSION = read();

    private static String read() {
        Properties properties = new Properties();
        try (InputStream in = Release.class.getResourceAsStream("release.properties")) {
            properties.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return properties.getProperty("release");
    }

    @Override
    public String[] getVersion() { return new String[]{"ofi4j " + VERSION, libfabric(), "Java " + Runtime.version()}; }

    private static String libfabric() {
        try {
            return Libfabric.load().toString();
        } catch (LibfabricNotFoundException e) {
            return e.tooOld().map(version -> "libfabric " + version + " is too old").orElse("libfabric not found");
        } catch (IllegalCallerException e) {
            return "libfabric not loaded: start java with " + NativeAccess.OPTION;
        }
    }
}

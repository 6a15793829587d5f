package io.ofi4j.command;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Which file of libfabric is loaded: what a program says with a system property, this command takes as an option. */
public final class Library {
    /** The option of every command. */
    static final String OPTION = "--library";

    /** The system property that the library reads when it loads libfabric. */
    static final String PROPERTY = "io.ofi4j.library";

    private static volatile boolean chosen;

    private Library() {}

    /** Null, which picocli says before it reads the command line, chooses nothing. */
    static void choose(Path file) {
        if (file == null) { return; }
        System.setProperty(PROPERTY, file.toAbsolutePath().toString());
        chosen = true;
    }

    static boolean isNamedBy(String word) { return word.startsWith(OPTION) || word.startsWith("-D" + PROPERTY); }

    /** {@return the option with which another JVM loads the same, if this one was told which} */
    public static Optional<String> jvmOption() {
        return Optional.ofNullable(System.getProperty(PROPERTY)).map(file -> "-D" + PROPERTY + "=" + file);
    }

    /** {@return what the library says of a libfabric that it cannot load, with this command's option in its advice} */
    public static String advice(String message) {
        String said = message.replace("-D" + PROPERTY + "=", OPTION + " ");
        return chosen
                ? said.replace("the system property " + PROPERTY, "the option " + OPTION)
                        .replace("that " + PROPERTY + " names", "that " + OPTION + " names")
                        .replace("Correct the property", "Correct the option")
                : said;
    }

    /** A file that is there. */
    static final class Converter implements ITypeConverter<Path> {
        @Override
        public Path convert(String text) {
            Path named = Path.of(text);
            if (!Files.isRegularFile(named)) {
                throw new TypeConversionException("there is no file '" + text + "': name a libfabric.so.1");
            }
            return named;
        }
    }
}

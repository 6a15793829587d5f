package io.ofi4j.command.verify;

import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Whose memory is tried, and how. */
final class DeviceOptions {
    private static final long MEBIBYTE = 1 << 20;

    @Option(names = "--device", paramLabel = "DEVICE", required = true, converter = DeviceConverter.class,
            description = "Try memory of this device in place of a provider: cuda, or cuda:N with its number; or host,"
                    + " whose memory stands in for a device's, to see that the checks themselves work.")
    String device;

    @Option(names = "--longest", paramLabel = "MIB", defaultValue = "256",
            description = "The longest transfer. Without it ${DEFAULT-VALUE} MiB.")
    int longest;

    @Option(names = "--program", paramLabel = "FILE", converter = FileConverter.class,
            description = "Compare times with this C program, which scripts/device-check builds.")
    Path program;

    @Option(names = "--logs", paramLabel = "FOLDER",
            description = "Keep what the processes say in this folder, which is there.")
    Path logs;

    long longestInBytes() { return longest * MEBIBYTE; }

    /** A device with its number. */
    static final class DeviceConverter implements ITypeConverter<String> {
        @Override
        public String convert(String text) {
            if (text.equals("cuda")) { return "cuda:0"; }
            if (text.matches("cuda:[0-9]{1,4}|host")) { return text; }
            throw new TypeConversionException(
                    "'" + text + "' is no device: write cuda, cuda:N with its number, or host");
        }
    }

    /** A program that is there. */
    static final class FileConverter implements ITypeConverter<Path> {
        @Override
        public Path convert(String text) {
            Path named = Path.of(text).toAbsolutePath();
            if (!Files.isExecutable(named)) { throw new TypeConversionException("there is no program '" + text + "'"); }
            return named;
        }
    }
}

package io.ofi4j.command;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;

/**
 * Standard output that knows at the end whether everything could be written, which {@link PrintStream} keeps to itself.
 */
final class StandardOutput extends OutputStream {
    private static final int BUFFER = 8192;
    /** What shells say of a command that SIGPIPE has ended, as it ends those whose reader has gone. */
    private static final int READER_GONE = 128 + 13;

    private final OutputStream file = new FileOutputStream(FileDescriptor.out);
    private volatile IOException failure;

    private StandardOutput() {}

    /** {@return what System.out goes to from now on} */
    static StandardOutput install() {
        StandardOutput output = new StandardOutput();
        System.setOut(new PrintStream(new BufferedOutputStream(output, BUFFER), true, System.out.charset()));
        return output;
    }

    @Override
    public void write(int octet) throws IOException { write(new byte[]{(byte) octet}, 0, 1); }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        try {
            file.write(bytes, offset, length);
        } catch (IOException e) {
            failure = e;
            throw e;
        }
    }

    /**
     * Writes what is left.
     *
     * @param status how the command has ended
     * @return how the process ends: as the command, or with 1 where its output was lost. If its reader has ended, such
     *         as {@code head}, it says nothing and ends with {@value #READER_GONE}, as other commands do
     */
    int finish(int status) {
        System.out.flush();
        if (failure == null) { return status; }
        String why = String.valueOf(failure.getMessage());
        if (Descriptor.OUTPUT.isPipe()) { return status == 0 ? READER_GONE : status; }
        System.err.println(
                "ofi4j: Cannot write to the standard output: " + why + ". Is the disk full, or the output closed?");
        return status == 0 ? 1 : status;
    }
}

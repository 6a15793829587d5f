package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.MemoryRegion;
import io.ofi4j.conformance.Check;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.Pattern;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Untried;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Memory of huge pages, as a file system of them gives it, is written to and read from as any other. */
final class HugePageRule {
    static final String NAME = "memory of huge pages";

    private static final Path RESERVED = Path.of("/proc/sys/vm/nr_hugepages");
    private static final Path MOUNTS = Path.of("/proc/mounts");
    private static final String TYPE = "hugetlbfs";
    private static final int PAGES = 2;
    private static final long TOKEN = 7;

    private HugePageRule() {}

    /** From the last bytes of one page and the first of the next to the other places, and back. */
    static void run(Subject subject) throws IOException {
        Path folder = folder();
        long page = Files.getFileStore(folder).getBlockSize();
        Path file = folder.resolve("ofi4j-verify-" + ProcessHandle.current().pid());
        try (Ends ends = new Ends(subject); RandomAccessFile pages = new RandomAccessFile(file.toFile(), "rw")) {
            file.toFile().deleteOnExit(); // the pages stay taken as long as it is there
            pages.setLength(PAGES * page);
            try (MemoryRegion region = map(ends, pages, PAGES * page)) {
                long length = Math.min(page / 2, ends.domain.info().endpoint().maximumMessageSize());
                long source = page - length / 2;
                Pattern.fill(region.segment().asSlice(source, length), 1);
                ends.near.endpoint().rma().write(region.slice(source, length), ends.peer,
                        region.remote().slice(0, length), TOKEN);
                ends.awaitToken(TOKEN);
                ends.require("the bytes of a write",
                        () -> Pattern.mismatch(region.segment().asSlice(0, length), 1) < 0);
                ends.near.endpoint().rma().read(region.slice(PAGES * page - length, length), ends.peer,
                        region.remote().slice(source, length), TOKEN);
                ends.awaitToken(TOKEN);
                Check.equal("the first wrong byte of a read",
                        Pattern.mismatch(region.segment().asSlice(PAGES * page - length, length), 1), -1);
            }
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private static MemoryRegion map(Ends ends, RandomAccessFile pages, long length) {
        try {
            return ends.domain.map(pages.getChannel(), MapMode.READ_WRITE, 0, length, Access.READ, Access.WRITE,
                    Access.REMOTE_READ, Access.REMOTE_WRITE);
        } catch (IOException e) {
            throw new Untried("fewer than " + PAGES + " huge pages are free: " + e.getMessage());
        }
    }

    /** A mount that this process may write to. */
    private static Path folder() throws IOException {
        if (!Files.exists(RESERVED) || Files.readString(RESERVED).strip().equals("0")) {
            throw new Untried("no huge pages are reserved");
        }
        Optional<Path> folder = Files.readAllLines(MOUNTS).stream().map(line -> line.split(" "))
                .filter(words -> words[2].equals(TYPE)).map(words -> Path.of(words[1])).filter(Files::isWritable)
                .findFirst();
        return folder.orElseThrow(() -> new Untried("this process may write to no mounted " + TYPE));
    }
}

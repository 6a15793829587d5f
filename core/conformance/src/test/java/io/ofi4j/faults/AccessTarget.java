package io.ofi4j.faults;

import io.ofi4j.Access;
import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.support.FaultTarget;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * A process with pages of memory, of which some are registered, some no longer, and some never were; see {@link Page}.
 */
final class AccessTarget {
    /** What each page is registered for. */
    enum Page {
        /** For both. */
        OPEN,
        /** Not at all; it follows one that is. */
        NEVER,
        /** For remote reads. */
        READABLE,
        /** For remote writes. */
        WRITABLE,
        /** It was, for both. */
        STALE;

        static final int SIZE = 4096;

        long offset() { return ordinal() * (long) SIZE; }

        private Access[] access() {
            return switch (this) {
                case READABLE -> new Access[]{Access.REMOTE_READ};
                case WRITABLE -> new Access[]{Access.REMOTE_WRITE};
                default -> new Access[]{Access.REMOTE_READ, Access.REMOTE_WRITE};
            };
        }
    }

    private AccessTarget() {}

    /**
     * Loads libfabric. When a peer goes away, ofi_rxm over verbs may post a receive anew to the connection that it has
     * just freed, which ends the process, upstream; receives that connections share are not theirs. They are not the
     * default, for with libfabric 1.17 they lose completion data.
     */
    static void load(String provider) {}

    /** Arguments: the provider and the file. */
    public static void main(String[] arguments) throws IOException {
        load(arguments[0]);
        FabricInfo info = TestProviders.info(arguments[0]);
        Fabric fabric = Libfabric.load().openFabric(info);
        Domain domain = fabric.openDomain();
        MemorySegment memory;
        try (FileChannel channel = FileChannel.open(Path.of(arguments[1]), StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            memory = channel.map(MapMode.READ_WRITE, 0, Page.values().length * (long) Page.SIZE, Arena.global());
        }
        List<MemoryRegion> regions = new ArrayList<>();
        for (Page page : Page.values()) {
            if (page != Page.NEVER) {
                regions.add(domain.register(memory.asSlice(page.offset(), Page.SIZE), page.access()));
            }
        }
        StringBuilder encoded = new StringBuilder();
        regions.forEach(region -> encoded.append(' ').append(HexFormat.of().formatHex(region.remote().encode())));
        regions.getLast().close();
        FaultTarget.serve(fabric, domain, encoded.substring(1));
    }
}

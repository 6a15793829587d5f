package io.ofi4j.internal.quirks.shm;

import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.LibC;
import io.ofi4j.internal.os.NativeFile;
import io.ofi4j.internal.quirks.Quirk;
import io.ofi4j.internal.quirks.Status;
import java.nio.file.Path;

/**
 * Refuses peers of other users. Each side must open the other's file, which the provider makes for its owner only. A
 * process with privileges can open the file of a user, who cannot open the file of that process. Files whose mode
 * admits others are not refused.
 */
final class ShmUsers extends Quirk {
    private static final String UPSTREAM = """
            A target opens the file of each peer that writes to it. If it may not, the target's process ends on 1.x, \
            and on 2.x the peer's posts never find room.""";
    private static final int ROOT = 0;
    /** The permissions of group and others to read and write. */
    private static final int OTHERS = 0066;

    ShmUsers() {
        super("shm-users", provider -> provider.is("shm"), VersionRange.from(1, 15), UPSTREAM, "ShmUsersTest");
    }

    @Override
    protected void beforeInsert(EndpointAddress address) { ShmFiles.find(address).ifPresent(ShmUsers::requireShared); }

    private static void requireShared(Path file) {
        try (NativeFile open = NativeFile.open(file)) {
            if (open.error() == Errno.EACCES || open.error() == 0 && isClosedToOwner(open)) {
                throw Status.exception(-Errno.EACCES, "fi_av_insert", " of " + file, "shm");
            }
        }
    }

    /** Whether this process could open the file by a privilege alone, which the file's owner does not have. */
    private static boolean isClosedToOwner(NativeFile open) {
        int owner = open.owner();
        return owner != ROOT && owner != LibC.effectiveUser() && (open.mode() & OTHERS) == 0;
    }
}

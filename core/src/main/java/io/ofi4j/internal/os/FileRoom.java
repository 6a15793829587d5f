package io.ofi4j.internal.os;

import java.nio.file.Path;

/** Room on the disk for what of a sparse file has none yet. If there is none when a mapping is written to, the process ends. */
public final class FileRoom {
    private FileRoom() {
    }

    /**
     * Makes room for a part of a file that may be sparse; its length and what stands in it stay.
     *
     * @return false if there is none; true also where the file system cannot tell
     */
    public static boolean reserve(Path file, long offset, long length) {
        try (NativeFile open = NativeFile.open(file)) {
            int error = open.error() == 0 ? open.reserve(offset, length) : 0;
            return error != Errno.ENOSPC && error != NativeFile.EDQUOT;
        }
    }
}

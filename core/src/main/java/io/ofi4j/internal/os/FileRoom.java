package io.ofi4j.internal.os;

import java.nio.file.Path;

/** Reserves disk space for sparse files. Without it, a write to a mapping of a full disk ends the process. */
public final class FileRoom {
    /**
     * Reserves space for a part of a file; its length and content stay. False if the disk is full; true also if the file system
     * cannot tell.
     */
    public static boolean reserve(Path file, long offset, long length) {
        try (NativeFile open = NativeFile.open(file)) {
            int error = open.error() == 0 ? open.reserve(offset, length) : 0;
            return error != Errno.ENOSPC && error != NativeFile.EDQUOT;
        }
    }
}

package io.ofi4j.command.control;

import java.util.Optional;

/** What a frame says. The number of each goes over the wire, and is never used for another. */
public enum FrameType {
    /** Client: what it wants, and who it is. */
    SETUP(1),
    /** Server: go ahead, and who it is. */
    READY(2),
    /** Server: no, for the reason inside. */
    REFUSED(3),
    /** Client: empty or fill your memory. */
    PREPARE(4),
    /** Server: done so. */
    PREPARED(5),
    /** Client: compare your memory. */
    CHECK(6),
    /** Server: how many operations are wrong. */
    RESULT(7),
    /** Client: still there. */
    ALIVE(8),
    /** Client: that was all. */
    BYE(9),
    /** Client: measure the other direction; from here on the server asks. */
    REVERSE(10),
    /** Server, while it measures: wait until all are ready. */
    MEET(11),
    /** Client: all are. */
    MET(12),
    /** Server: what it has measured. */
    ROW(13),
    /** Client, or server of {@code verify}: the user has enough. */
    STOP(14),
    /** Client of {@code verify}: what it tries, and who it is. */
    VERIFY(15),
    /** To or from the far half of a trial. */
    FAR(16),
    /** Client of {@code verify}: what came of trials. */
    FINDING(17);

    private final short code;

    FrameType(int code) { this.code = (short) code; }

    short code() { return code; }

    static Optional<FrameType> of(short code) {
        for (FrameType type : values()) {
            if (type.code == code) { return Optional.of(type); }
        }
        return Optional.empty();
    }
}

package io.ofi4j.command.verify;

/** What the client tells the server in its findings. The order goes over the wire. */
enum FindingKind {
    /** A line of the report. */
    LINE,
    /** The last line, and nothing is wrong. */
    RIGHT,
    /** The last line, and something is wrong. */
    WRONG,
    /** The last line, and Ctrl-C has ended the run. */
    INTERRUPTED
}

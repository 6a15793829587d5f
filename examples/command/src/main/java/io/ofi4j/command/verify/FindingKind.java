package io.ofi4j.command.verify;

import io.ofi4j.command.Interrupt;

/** What the client tells the server in its findings. The order goes over the wire. */
enum FindingKind {
    /** A line of the report. */
    LINE(0),
    /** The last line, and nothing is wrong. */
    RIGHT(0),
    /** The last line, and something is wrong. */
    WRONG(1),
    /** The last line, and Ctrl-C has ended the run. */
    INTERRUPTED(Interrupt.EXIT_CODE),
    /** The last line, and nothing was tried. */
    UNTRIED(2);

    /** Of both sides, behind such a last line. */
    final int exitCode;

    FindingKind(int exitCode) { this.exitCode = exitCode; }
}

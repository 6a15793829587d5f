package io.ofi4j.command.perf;

/** Those that measure in step: all post at the same time, and their rows become one. */
interface Team {
    /** Waits until all have come here. */
    void meet();

    /** {@return what all have measured, the same for each} */
    Row add(Row own);

    /** {@return whether the user has enough} */
    boolean isAsked();

    /** {@return whether the user had enough when all met} */
    boolean isStopped();
}

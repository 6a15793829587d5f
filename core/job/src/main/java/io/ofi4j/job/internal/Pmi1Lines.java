package io.ofi4j.job.internal;

/** The connection to a launcher that speaks PMI-1, line by line. One thread at a time uses it. */
public interface Pmi1Lines {
    /** Sends a line; the launcher always reads. */
    void send(String line);

    /**
     * {@return a line that has come, without its end, or null if none has come within this time}
     *
     * @param millis the longest wait
     */
    String receive(int millis);
}

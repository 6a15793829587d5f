package io.ofi4j.examples.perf;

/** Where results go. */
interface Report {
    void header(Header header);

    void row(Row row);
}

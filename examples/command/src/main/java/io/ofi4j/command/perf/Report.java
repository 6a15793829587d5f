package io.ofi4j.command.perf;

/** Where results go. */
interface Report {
    /** For all threads but one. */
    Report NONE = new Report() {
        @Override
        public void header(Header header) {
            // said by the one
        }

        @Override
        public void row(Row row) {
            // likewise
        }
    };

    void header(Header header);

    void row(Row row);
}

package io.ofi4j.command.perf;

/**
 * Where something is measured.
 *
 * @param here the end that measures
 * @param target the other
 */
record Place(End here, Target target) implements AutoCloseable {
    @Override
    public void close() {
        try (here) {
            target.close();
        }
    }
}

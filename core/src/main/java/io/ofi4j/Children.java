package io.ofi4j;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Collectors;

/** What is open below an object and must be closed before it. */
final class Children {
    private final Set<Object> open = new LinkedHashSet<>();

    synchronized void add(Object child) {
        open.add(child);
    }

    synchronized void remove(Object child) {
        open.remove(child);
    }

    synchronized boolean isEmpty() {
        return open.isEmpty();
    }

    /** @throws IllegalStateException naming what is open */
    synchronized void requireNone(Object parent) {
        if (!open.isEmpty()) {
            throw new IllegalStateException("close these before " + parent + ": "
                    + open.stream().map(Object::toString).collect(Collectors.joining(", ")));
        }
    }
}

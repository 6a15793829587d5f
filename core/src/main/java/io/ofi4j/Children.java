package io.ofi4j;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Collectors;

/** What is open below an object and must be closed before it. */
final class Children {
    private final Set<Object> open = new LinkedHashSet<>();
    private final boolean owned;

    Children() {
        this(false);
    }

    private Children(boolean owned) {
        this.owned = owned;
    }

    /** Those that an object has opened: each is somebody's leak if it is not closed. */
    static Children owned() {
        return new Children(true);
    }

    synchronized void add(Object child) {
        open.add(child);
        if (owned) {
            Leaks.opened(child);
        }
    }

    synchronized void remove(Object child) {
        open.remove(child);
        if (owned) {
            Leaks.closed(child);
        }
    }

    synchronized boolean isEmpty() {
        return open.isEmpty();
    }

    /** @throws IllegalStateException naming what is open */
    synchronized void requireNone(Object parent) {
        if (!open.isEmpty()) {
            throw new IllegalStateException("close these before " + parent + ": "
                    + open.stream().map(Leaks::name).collect(Collectors.joining(", ")));
        }
    }
}

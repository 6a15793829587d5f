package io.ofi4j.internal.engine;

import io.ofi4j.internal.observe.LeakReport;
import io.ofi4j.internal.observe.LockOrder;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The open children of an object, which must be closed before it. */
public class OpenChildren {
    private final Set<Object> open = new LinkedHashSet<>();
    private final boolean owned;

    public OpenChildren() { this(false); }

    private OpenChildren(boolean owned) { this.owned = owned; }

    /** Children that the program opened: each is a leak if it is not closed. */
    public static OpenChildren owned() {
        return new OpenChildren(true);
    }

    public synchronized void add(Object child) {
        assert LockOrder.taken(LockOrder.Rank.LEAF, this);
        open.add(child);
        if (owned) { LeakReport.opened(child); }
    }

    /** Adds a child that was just opened; closes it if that fails. */
    public <T extends AutoCloseable> T adopt(T child) {
        try {
            add(child);
            return child;
        } catch (Throwable t) {
            closeAfter(t, child);
            throw t;
        }
    }

    private static void closeAfter(Throwable cause, AutoCloseable child) {
        try {
            child.close();
        } catch (Exception e) {
            cause.addSuppressed(e);
        }
    }

    public synchronized void remove(Object child) {
        assert LockOrder.taken(LockOrder.Rank.LEAF, this);
        open.remove(child);
        if (owned) { LeakReport.closed(child); }
    }

    /** The first child of this type that satisfies the predicate, or null. */
    public synchronized <T> T find(Class<T> type, Predicate<? super T> wanted) {
        return open.stream().filter(type::isInstance).map(type::cast).filter(wanted).findFirst().orElse(null);
    }

    /** A snapshot of the children of this type. */
    public synchronized <T> Stream<T> all(Class<T> type) {
        return List.copyOf(open).stream().filter(type::isInstance).map(type::cast);
    }

    public synchronized boolean isEmpty() { return open.isEmpty(); }

    public synchronized void requireNone(Object parent) {
        assert LockOrder.taken(LockOrder.Rank.LEAF, this);
        if (!open.isEmpty()) {
            throw new IllegalStateException("close these before " + parent + ": "
                    + open.stream().map(LeakReport::name).collect(Collectors.joining(", ")));
        }
    }
}

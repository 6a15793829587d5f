package io.ofi4j.info;

import java.util.function.Consumer;

/** A value whose methods return changed copies of it. */
abstract class Changeable<T extends Changeable<T>> implements Cloneable {
    @SuppressWarnings("unchecked") // a clone has the same class
    T with(Consumer<T> change) {
        try {
            T copy = (T) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}

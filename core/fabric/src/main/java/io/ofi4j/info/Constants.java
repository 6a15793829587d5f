package io.ofi4j.info;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Predicate;

/** Sets of constants, in the order of their declaration. */
final class Constants {
    private Constants() {}

    static <E extends Enum<E>> Set<E> subset(Class<E> type, Predicate<E> condition) {
        Set<E> set = EnumSet.allOf(type);
        set.removeIf(condition.negate());
        return Collections.unmodifiableSet(set);
    }
}

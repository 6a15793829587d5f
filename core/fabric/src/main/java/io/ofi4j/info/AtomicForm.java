package io.ofi4j.info;

/** The forms of an atomic operation; fi_atomic(3). */
public enum AtomicForm {
    /** It changes the target; fi_atomic. */
    EXECUTE,
    /** It also brings the previous value of the target; fi_fetch_atomic. */
    FETCH,
    /** It also takes a comparand; fi_compare_atomic. */
    COMPARE
}

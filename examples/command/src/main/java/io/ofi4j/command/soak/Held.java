package io.ofi4j.command.soak;

/**
 * What both processes hold.
 *
 * @param driver the one that operates
 * @param target the one that is operated on
 */
record Held(Usage driver, Usage target) {
    /** {@return what this process and a target hold now} */
    static Held now(TargetProcess target) {
        System.gc();
        return new Held(Usage.of(ProcessHandle.current().pid()), Usage.of(target.pid()));
    }
}

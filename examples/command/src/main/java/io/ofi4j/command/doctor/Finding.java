package io.ofi4j.command.doctor;

/**
 * What one look at the machine gave.
 *
 * @param level how bad it is
 * @param subject what was looked at
 * @param found what is there
 * @param advice what to do, or nothing
 */
record Finding(Level level, String subject, String found, String advice) {
    /** How bad something is. */
    enum Level {
        /** As it should be. */
        OK,
        /** Works, and could be better or matters only to some. */
        HINT,
        /** ofi4j cannot work well so. */
        PROBLEM
    }

    static Finding ok(String subject, String found) { return new Finding(Level.OK, subject, found, ""); }

    static Finding hint(String subject, String found, String advice) {
        return new Finding(Level.HINT, subject, found, advice);
    }

    static Finding problem(String subject, String found, String advice) {
        return new Finding(Level.PROBLEM, subject, found, advice);
    }
}

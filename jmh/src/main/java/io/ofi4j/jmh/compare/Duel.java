package io.ofi4j.jmh.compare;

/** A job, measured by both sides in turns. */
final class Duel {
    private static final long SLICE = 4_000_000;
    private static final long FIRST_COUNT = 16;
    private static final long LONG_ENOUGH = 500_000;
    private static final long MOST = 4_000_000;
    /** What the compiler wants to see of an operation; a slow one is warmed up for longer. */
    private static final long ENOUGH = 20_000;

    private final long slice;
    private final Job job;
    private final Worker c;
    private final Worker java;
    private final Pairs pairs = new Pairs();
    private long count;
    private long operations;
    private long allocated;
    private boolean javaFirst;

    Duel(Job job, Worker c, Worker java) { this(SLICE, job, c, java); }

    /** @param slice for how many nanoseconds to let a side work at a time */
    Duel(long slice, Job job, Worker c, Worker java) {
        this.slice = slice;
        this.job = job;
        this.c = c;
        this.java = java;
    }

    /** Finds how many operations make a slice, and has the Java side compiled. */
    void warmUp(long nanoseconds) {
        long end = System.nanoTime() + nanoseconds;
        count = Math.max(FIRST_COUNT, job.window());
        long time;
        // of two: where the thread had to wait for others, a slice would become too short
        while ((time = Math.min(timeOfC(), timeOfC())) < LONG_ENOUGH && count < MOST) {
            count *= 2;
        }
        count = Math.clamp(count * slice / time, job.window(), MOST);
        long warm = 0;
        do {
            java.ask(job.command(count));
            warm += count;
        } while (System.nanoTime() - end < 0 || warm < ENOUGH && System.nanoTime() - end < nanoseconds);
        c.ask(job.command(count));
    }

    /** Measures for a while, at least once. */
    void round(long nanoseconds) {
        long end = System.nanoTime() + nanoseconds;
        do {
            String command = job.command(count);
            String[] ofJava = javaFirst ? java.ask(command) : null;
            String[] ofC = c.ask(command);
            ofJava = javaFirst ? ofJava : java.ask(command);
            javaFirst = !javaFirst;
            pairs.add((double) time(ofC) / count, (double) time(ofJava) / count);
            operations += count;
            allocated += Long.parseLong(ofJava[2]);
        } while (System.nanoTime() - end < 0);
    }

    private long timeOfC() { return time(c.ask(job.command(count))); }

    private static long time(String[] answer) { return Long.parseLong(answer[1]); }

    Row row(String libfabric, String provider) {
        return Row.of(libfabric, provider, job.name(), job.size(), job.window(), pairs,
                (double) allocated / operations);
    }
}

package io.ofi4j.hostile;

/**
 * Runs one hostile program in this JVM, over one provider after the other. Arguments: its case, the providers, the
 * seed, seconds for each, and how often it goes on in place of seconds, or 0.
 */
final class HostileMain {
    private HostileMain() {}

    public static void main(String[] arguments) throws Exception {
        HostileCase program = HostileCase.valueOf(arguments[0]);
        long seconds = Long.parseLong(arguments[3]);
        for (String provider : arguments[1].split(",")) {
            System.out.println(program + " over " + provider);
            HostileRun run = new HostileRun(provider, Long.parseLong(arguments[2]), seconds,
                    Long.parseLong(arguments[4]));
            Thread watch = HostileWatch.start(seconds);
            HostileLedger before = HostileLedger.now();
            program.run(run);
            HostileLedger.afterwards().requireNoMoreThan(before, run);
            run.finish();
            watch.interrupt();
        }
        System.out.println("survived");
        System.exit(0);
    }
}

package io.ofi4j.jmh.compare;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The workers of both sides for one provider. */
final class Contest implements AutoCloseable {
    private static final String LOOPBACK = "127.0.0.1";
    /** Where an answer to "open" names the thread. */
    private static final int THREAD = 5;

    private final Deque<Worker> workers = new ArrayDeque<>();
    private final String provider;
    private final Family family;
    private final List<String> baseline;
    private final List<String> javaCommand;
    private final Models models;
    private final Worker c;
    private final Worker java;
    private final String[] cOpened;
    private final String[] javaOpened;

    /** Starts a worker of each side, tied to no processor, with the first of these models that the provider has. */
    Contest(String provider, Family family, List<Models> toTry, List<String> baseline, List<String> javaCommand) {
        this.provider = provider;
        this.family = family;
        this.baseline = baseline;
        this.javaCommand = javaCommand;
        try {
            java = startJava(javaCommand);
            c = startC(baseline);
            Models found = null;
            String[] answer = null;
            for (Models each : toTry) {
                answer = java.ask(open(each));
                if (answer[0].equals("ok")) {
                    found = each;
                    break;
                }
            }
            if (found == null) { throw new Absence(String.join(" ", List.of(answer).subList(1, answer.length))); }
            models = found;
            javaOpened = answer;
            cOpened = open(c);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Where the endpoints are: a device has an address of its own, which {@code scripts/verbs} names. */
    private String node() {
        if (provider.startsWith("verbs")) {
            return System.getenv().getOrDefault("OFI4J_VERBS_ADDRESSES", LOOPBACK).split(" ")[0];
        }
        return provider.startsWith("shm") ? "-" : LOOPBACK;
    }

    private String open(Models which) {
        return "open " + provider + " " + node() + " " + which.threading() + " " + which.progress() + " " + Job.REGION
                + " " + family;
    }

    private String[] open(Worker worker) {
        String[] answer = worker.ask(open(models));
        if (!answer[0].equals("ok")) {
            throw new BenchFailure("provider " + provider + " offers " + models + " to one side and not to the other");
        }
        return answer;
    }

    private Worker startC(List<String> command) { return started(new Worker("the C side of " + provider, command)); }

    private Worker startJava(List<String> command) {
        return started(new Worker("the Java side of " + provider, command));
    }

    private Worker started(Worker worker) {
        workers.push(worker);
        return worker;
    }

    Models models() { return models; }

    /** Ties the workers' threads to a processor. */
    void tie() {
        Processors.first(javaOpened[THREAD]);
        Processors.first(cOpened[THREAD]);
    }

    /** Gives the TCP connections that are there one congestion control. */
    void settle() {
        c.ask("settle");
        java.ask("settle");
    }

    Worker c() { return c; }

    Worker java() { return java; }

    /** Starts a second C worker, and makes the two known to each other. */
    Worker otherC() {
        return acquainted(c, cOpened, startC(Processors.second(baseline)));
    }

    /** Starts another C worker, tied to no processor, that knows the first. */
    Worker clientOfC() {
        return client(cOpened, startC(baseline));
    }

    /** As {@link #clientOfC}, of the Java worker. */
    Worker clientOfJava() {
        return client(javaOpened, startJava(javaCommand));
    }

    private Worker client(String[] server, Worker worker) {
        open(worker);
        worker.ask(other(server));
        return worker;
    }

    /** Starts a second Java worker, and makes the two known to each other. */
    Worker otherJava() {
        return acquainted(java, javaOpened, startJava(Processors.second(javaCommand)));
    }

    private Worker acquainted(Worker first, String[] opened, Worker second) {
        String[] openedBySecond = open(second);
        second.ask(other(opened));
        first.ask(other(openedBySecond));
        Processors.second(openedBySecond[THREAD]);
        return second;
    }

    private static String other(String[] opened) { return "other " + opened[2] + " " + opened[3] + " " + opened[4]; }

    @Override
    public void close() {
        while (!workers.isEmpty()) {
            workers.pop().close();
        }
    }
}

package io.ofi4j.jmh.compare;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Several processes read from one at the same time, all through C and all through Java in turns. With more of them than
 * processors it is the system that decides who may work, and how a process waits decides how much comes of it.
 */
final class Contention {
    private static final int[] CLIENTS = {1, 2};
    private static final int[] WINDOWS = {1, 32};
    private static final long SLICE = 200_000_000;
    private static final int SECOND = 1_000_000_000;
    private static final String FORMAT = "%8s %7s %-7s %12s %12s %7s  %s%n";

    private final PrintWriter out;
    private final int rounds;

    /** One kind of work. */
    private record Kind(int clients, int window, boolean yields) {}

    /** A server and its clients. */
    private record Side(Worker server, List<Worker> clients) {
        /** How many reads a second all have done together. */
        double measure(Kind kind, long nanoseconds) {
            server.send("serve");
            List<Worker> working = clients.subList(0, kind.clients);
            working.forEach(
                    client -> client.send("crowd " + kind.window + " " + (kind.yields ? 1 : 0) + " " + nanoseconds));
            double reads = working.stream().mapToDouble(client -> Long.parseLong(client.receive()[1])).sum();
            server.send("rest");
            server.receive();
            server.receive();
            return reads * SECOND / nanoseconds;
        }
    }

    Contention(PrintWriter out, double seconds) {
        this.out = out;
        int kinds = CLIENTS.length * WINDOWS.length * 2;
        this.rounds = Math.max(1, (int) (seconds * SECOND / (kinds * 2 * SLICE)));
    }

    void run(String provider, int libfabricMajor, List<String> baseline, List<String> java) {
        try (Contest contest = new Contest(provider, Family.RMA, Models.toTry(provider, libfabricMajor), baseline,
                java)) {
            contest.tie();
            Side c = new Side(contest.c(), new ArrayList<>());
            Side ofJava = new Side(contest.java(), new ArrayList<>());
            for (int at = 0; at < CLIENTS[CLIENTS.length - 1]; at++) {
                c.clients.add(contest.clientOfC());
                ofJava.clients.add(contest.clientOfJava());
            }
            out.printf("%s, %s; reads of 8 B from one server, a second, of all clients together%n", provider,
                    contest.models());
            out.printf(FORMAT, "clients", "window", "waiting", "C", "Java", "Java/C", "quartiles");
            for (int clients : CLIENTS) {
                for (int window : WINDOWS) {
                    for (boolean yields : new boolean[]{false, true}) {
                        row(new Kind(clients, window, yields), c, ofJava);
                    }
                }
            }
            Kind none = new Kind(c.clients.size(), 0, false); // what is in flight completes
            c.measure(none, SLICE);
            ofJava.measure(none, SLICE);
        }
    }

    private void row(Kind kind, Side c, Side ofJava) {
        ofJava.measure(kind, 2 * SLICE); // compiles it
        c.measure(kind, SLICE / 4);
        Pairs pairs = new Pairs();
        for (int round = 0; round < rounds; round++) {
            pairs.add(c.measure(kind, SLICE), ofJava.measure(kind, SLICE));
        }
        out.printf(Locale.ROOT, FORMAT, kind.clients, kind.window, kind.yields ? "yields" : "spins",
                rate(pairs.medianOfC()), rate(pairs.medianOfJava()), ratio(pairs, 0.5),
                ratio(pairs, 0.25) + " to " + ratio(pairs, 0.75));
        out.flush();
    }

    private static String rate(double aSecond) { return String.format(Locale.ROOT, "%.0f", aSecond); }

    private static String ratio(Pairs pairs, double part) {
        return String.format(Locale.ROOT, "%.2f", pairs.ratio(part));
    }
}

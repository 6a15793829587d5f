package io.ofi4j.jmh.compare;

import java.io.PrintWriter;
import java.util.Locale;

/**
 * What other ways out of Java take, for orientation. Each is measured in a duel with itself: the ratio shows what the
 * method makes of two equal sides.
 */
final class Peers {
    private static final int SMALL = 8;
    private static final int ROUNDS = 3;

    private final PrintWriter out;

    Peers(PrintWriter out) { this.out = out; }

    /** Measures all there are for about so long. */
    void run(Plan plan) {
        out.println("for orientation, in the same run:");
        sockets(plan.part(1.0 / 2));
        jucx(plan);
        out.flush();
    }

    private void sockets(Plan plan) {
        try (Worker ping = new Worker("the ping of plain sockets", Jvm.command(SocketWorker.class));
                Worker pong = new Worker("the pong of plain sockets", Jvm.command(SocketWorker.class))) {
            String[] listening = pong.ask("listen");
            pong.send("accept");
            ping.ask("connect " + listening[1]);
            pong.receive();
            ExchangeDuel.Side side = new ExchangeDuel.Side(ping, pong);
            ExchangeDuel duel = new ExchangeDuel("sockets", side, side);
            duel.warmUp(plan.warmUp(1));
            for (int round = ROUNDS; round > 0; round--) {
                duel.round(plan.turn(round));
            }
            for (Row row : duel.rows("", "")) {
                print("java.nio sockets, " + row.operation() + " 8 B", row);
            }
        }
    }

    private void jucx(Plan plan) {
        try (Worker worker = new Worker("jucx", Jvm.command(JucxWorker.class))) {
            if (!worker.ask("open")[0].equals("ok")) {
                out.println(
                        "jucx is left out: it needs UCX 1.18, which is Debian 13's libucx0, and libucp.so.0 is not that");
                return;
            }
            Duel duel = new Duel(new Job("put", Family.RMA, "put", SMALL, 1), worker, worker);
            duel.warmUp(plan.warmUp(1));
            for (int round = ROUNDS; round > 0; round--) {
                duel.round(plan.turn(round));
            }
            print("jucx (UCX), put with completion 8 B over shared memory", duel.row("", ""));
        } catch (BenchFailure e) {
            out.println("jucx is left out: " + e.getMessage());
        }
    }

    private void print(String what, Row row) {
        out.printf(Locale.ROOT, "%-56s %11.1f ns, against itself %.3f (%.3f to %.3f), %.2f B/op%n", what, row.javaNs(),
                row.ratio(), row.from(), row.to(), row.allocBytes());
    }
}

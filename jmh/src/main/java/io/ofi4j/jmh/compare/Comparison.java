package io.ofi4j.jmh.compare;

import io.ofi4j.info.ThreadingModel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Compares both sides over one provider. */
final class Comparison {
    private static final int ROUNDS = 3;

    private final String provider;
    private final String libfabric;
    private final List<String> baseline;
    private final List<String> java;
    private final Works works;
    private final ThreadingModel threading;

    /** With this threading, or, if it is null, the fastest that the provider has. */
    Comparison(String provider, String libfabric, List<String> baseline, List<String> java, Works works,
            ThreadingModel threading) {
        this.provider = provider;
        this.libfabric = libfabric;
        this.baseline = baseline;
        this.java = java;
        this.works = works;
        this.threading = threading;
    }

    /** Measures everything, and hands out the rows; what the exchanges' times were is returned. */
    List<ExchangeDuel> run(Plan plan, Consumer<String> notes, Consumer<Row> rows) {
        List<ExchangeDuel> exchanges = new ArrayList<>();
        double left = Stream.of(Family.values()).mapToDouble(works::share).sum();
        for (Family family : Family.values()) {
            double share = works.share(family);
            if (share > 0) { exchanges.addAll(run(family, plan.part(share / left), notes, rows)); }
            left -= share;
        }
        return exchanges;
    }

    private List<ExchangeDuel> run(Family family, Plan plan, Consumer<String> notes, Consumer<Row> rows) {
        try (Contest contest = new Contest(provider, family, toTry(), baseline, java)) {
            contest.tie();
            if (family == Family.RMA) { notes.accept(provider + ": " + contest.models()); }
            List<Job> jobs = works.jobs(family);
            double weight = works.weight(family);
            if (!jobs.isEmpty()) { duels(contest, jobs, plan.part(jobs.size() / weight), rows); }
            return jobs.size() < weight ? exchanges(contest, plan, rows) : List.of();
        } catch (Absence e) {
            if (family == Family.RMA || works.isChosen()) { throw e; }
            notes.accept(provider + ": not measured with " + family + ": " + e.getMessage());
            return List.of();
        }
    }

    private List<Models> toTry() {
        return threading != null
                ? Models.toTry(threading)
                : Models.toTry(provider, Integer.parseInt(libfabric.substring(0, libfabric.indexOf('.'))));
    }

    private void duels(Contest contest, List<Job> jobs, Plan plan, Consumer<Row> rows) {
        List<Duel> duels = jobs.stream().map(job -> new Duel(job, contest.c(), contest.java())).toList();
        long warmUp = plan.warmUp(duels.size());
        duels.forEach(duel -> duel.warmUp(warmUp));
        contest.settle(); // now that all connections are there
        int left = ROUNDS * duels.size();
        for (int round = 0; round < ROUNDS && (round == 0 || !plan.isOver()); round++) {
            for (Duel duel : duels) {
                duel.round(plan.turn(left--));
            }
        }
        duels.forEach(duel -> rows.accept(duel.row(libfabric, provider)));
    }

    private List<ExchangeDuel> exchanges(Contest contest, Plan plan, Consumer<Row> rows) {
        ExchangeDuel.Side c = new ExchangeDuel.Side(contest.c(), contest.otherC());
        ExchangeDuel.Side java = new ExchangeDuel.Side(contest.java(), contest.otherJava());
        List<ExchangeDuel> duels = new ArrayList<>();
        for (String work : works.exchanges()) {
            duels.add(new ExchangeDuel(work, c, java));
        }
        long warmUp = plan.warmUp(duels.size());
        duels.forEach(duel -> duel.warmUp(warmUp));
        int left = ROUNDS * duels.size();
        for (int round = 0; round < ROUNDS && (round == 0 || !plan.isOver()); round++) {
            for (ExchangeDuel duel : duels) {
                duel.round(plan.turn(left--));
            }
        }
        duels.forEach(duel -> duel.rows(libfabric, provider).forEach(rows));
        return duels;
    }
}

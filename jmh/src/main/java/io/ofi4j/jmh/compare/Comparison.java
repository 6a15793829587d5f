package io.ofi4j.jmh.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Compares both sides over one provider. */
final class Comparison {
    private static final int ROUNDS = 3;

    private final String provider;
    private final String libfabric;
    private final List<String> baseline;
    private final List<String> java;
    private final Works works;

    Comparison(String provider, String libfabric, List<String> baseline, List<String> java, Works works) {
        this.provider = provider;
        this.libfabric = libfabric;
        this.baseline = baseline;
        this.java = java;
        this.works = works;
    }

    /** Measures everything, and hands out the rows; what the exchanges' times were is returned. */
    List<ExchangeDuel> run(Plan plan, Consumer<Models> models, Consumer<Row> rows) {
        int major = Integer.parseInt(libfabric.substring(0, libfabric.indexOf('.')));
        try (Contest contest = new Contest(provider, major, baseline, java)) {
            models.accept(contest.models());
            double weight = works.jobs().size();
            double exchangeWeight = works.exchanges().size() * Plan.EXCHANGE_WEIGHT;
            if (weight > 0) { duels(contest, plan.part(weight / (weight + exchangeWeight)), rows); }
            return exchangeWeight > 0 ? exchanges(contest, plan, rows) : List.of();
        }
    }

    private void duels(Contest contest, Plan plan, Consumer<Row> rows) {
        List<Duel> duels = works.jobs().stream().map(job -> new Duel(job, contest.c(), contest.java())).toList();
        long warmUp = plan.warmUp(duels.size());
        duels.forEach(duel -> duel.warmUp(warmUp));
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

package io.ofi4j.command.soak;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/** How rounds end: dealt as cards are, so that no fault is long in coming, and first of all each once. */
final class Fates {
    private static final int ORDERLY = 6;

    /** How a round ends. */
    enum Fate {
        IN_ORDER("ended in order"),
        TARGET_KILLED("target killed"),
        CLOSED_IN_USE("endpoint closed in use"),
        TARGET_STOPPED("target stopped for a while");

        private final String text;

        Fate(String text) { this.text = text; }

        String text() { return text; }
    }

    private static final List<Fate> FAULTS = List.of(Fate.TARGET_KILLED, Fate.CLOSED_IN_USE, Fate.TARGET_STOPPED);

    private final Random random;
    private final boolean faults;
    private final Deque<Fate> cards = new ArrayDeque<>();
    private int dealt;

    Fates(Random random, boolean faults) {
        this.random = random;
        this.faults = faults;
        if (faults) { deal(FAULTS); }
    }

    Fate next() {
        if (!faults) { return Fate.IN_ORDER; }
        if (cards.isEmpty()) {
            List<Fate> all = new ArrayList<>(Collections.nCopies(ORDERLY, Fate.IN_ORDER));
            all.addAll(FAULTS);
            all.add(Fate.TARGET_STOPPED);
            deal(all);
        }
        dealt++;
        return cards.pop();
    }

    /** {@return whether each fault has been dealt, if faults were asked for} */
    boolean eachWasDealt() {
        return !faults || dealt >= FAULTS.size();
    }

    private void deal(List<Fate> fates) {
        List<Fate> shuffled = new ArrayList<>(fates);
        Collections.shuffle(shuffled, random);
        cards.addAll(shuffled);
    }
}

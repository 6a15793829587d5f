package io.ofi4j.hostile;

import io.ofi4j.support.TestProviders;
import java.util.Optional;
import java.util.stream.Stream;

/** The kinds of hostile programs, each of many rounds. */
enum HostileCase {
    /** Threads connect, accept, reject and close connected endpoints of one fabric at once. */
    CONNECTIONS(Over.CONNECTED, HostileConnections::run),
    /** Threads open, bind, enable and close endpoints of one domain at once. */
    ENDPOINTS(Over.TRANSFERS, HostileEndpoints::run),
    /** Names, numbers and bytes that are no addresses are inserted. */
    LOOKUPS(Over.RMA, HostileLookups::run),
    /** Calls are made with every amount of stack that is too little. */
    RECURSION(Over.TRANSFERS, HostileRecursion::run),
    /** One thread changes a prepared message while another posts it. */
    MESSAGES(Over.TRANSFERS, HostileMessages::run),
    /** Threads wait on what another closes. */
    WAITS(Over.TRANSFERS, HostileWaits::run),
    /** Threads call, and hand over to each other, what one of them owns. */
    HAND_OVERS(Over.RMA, HostileHandOvers::run),
    /** Everything is closed under operations of every family. */
    CLOSES(Over.TRANSFERS, HostileCloses::run),
    /** Endpoints close, in any order, while messages wait that nobody has received. */
    UNTAKEN(Over.MESSAGES, HostileUntaken::run),
    /** Savers of one process and another come and go, or are left alone with saves in flight. */
    SAVERS(Over.RMA, HostileSavers::run),
    /** Clients of a save service and of a rendezvous lie, flood it and go, beside honest ones. */
    LIARS(Over.RMA, HostileLiars::run),
    /** The owner of a mapped file, and who saves it, are killed, and others take their places. */
    RESTARTS(Over.RMA, HostileRestarts::run),
    /** A disk fails and works again, and anybody is told of its errors. */
    FAILING_DISKS(Over.RMA, HostileDisks::run),
    /** A C program ends a JVM in the middle of what it does, and goes on with libfabric. */
    ENDED_JVM(Over.RMA, HostileGuests::run),
    /** Every thread is interrupted again and again. */
    INTERRUPTS(Over.TRANSFERS, HostileInterrupts::run),
    /** Threads change, read and await one counter at once. */
    COUNTERS(Over.TRANSFERS, HostileCounters::run),
    /** Handlers throw, post, poll and close. */
    HANDLERS(Over.TRANSFERS, HostileHandlers::run),
    /** Callbacks of every kind throw, wait, close and call back, on the thread that polls. */
    CALLBACKS(Over.TRANSFERS, HostileCallbacks::run),
    /** The same on the threads of the library, and in collective operations. */
    SERVICES(Over.TRANSFERS, HostileServices::run),
    /** Methods take objects that do not belong together. */
    PAIRS(Over.TRANSFERS, HostilePairs::run),
    /** Two providers in one JVM at once. */
    MIXED(Over.TRANSFERS, HostileMixed::run),
    /** The heap is full at any moment. */
    ERRORS(Over.TRANSFERS, HostileErrors::run),
    /** JVMs end in the middle of traffic. */
    EXITS(Over.TRANSFERS, HostileExits::run),
    /** JVMs end in the middle of any step of a life cycle. */
    STEPS(Over.TRANSFERS, HostileSteps::run),
    /** One of two processes has nothing left of something. */
    SHORTAGES(Over.TRANSFERS, HostileShortages::run),
    /** Two class loaders have a copy of the library each. */
    LOADERS(Over.RMA, HostileLoaders::run),
    /** Implementations of JDK types that throw, and answer something else each time. */
    IMPLEMENTATIONS(Over.RMA, HostileImplementations::run),
    /** Threads call any method of any object with any arguments. */
    CALLS(Over.TRANSFERS, run -> HostileCalls.run(run, HostileStage::set, HostileStage.STATIC)),
    /** The same over the path of verbs. */
    VERBS(Over.DEVICES, run -> HostileCalls.run(run, HostileVerbs::set, HostileVerbs.STATIC));

    private static final int MANY_STEPS = 2000;
    /** Where a step opens objects, or waits: a round of each kind of callback. */
    private static final int FEW_STEPS = 250;
    /** Where a step opens and closes a fabric with several endpoints. */
    private static final int ROUNDS = 20;

    /** What a case runs over. */
    private enum Over {
        /** Providers of unconnected endpoints. */
        RMA,
        /** Providers of unconnected endpoints with messages. */
        MESSAGES,
        /** Providers of connected endpoints. */
        CONNECTED,
        /** Both. */
        TRANSFERS,
        /** RDMA devices, without a provider. */
        DEVICES
    }

    /** A program. */
    private interface Program {
        void run(HostileRun run) throws Exception;
    }

    private final Over over;
    private final Program program;

    HostileCase(Over over, Program program) {
        this.over = over;
        this.program = program;
    }

    /** {@return the providers that it runs over} */
    Stream<String> providers() {
        return switch (over) {
            case RMA -> TestProviders.rma();
            case MESSAGES -> HostileUntaken.providers();
            case CONNECTED -> TestProviders.connected().map("MSG "::concat);
            case TRANSFERS -> TestProviders.transfers();
            case DEVICES -> HostileVerbs.devices();
        };
    }

    /** {@return why this machine cannot run it; empty if it can} */
    Optional<String> whyNot() {
        return this == FAILING_DISKS
                ? HostileDisks.whyNot()
                : this == ENDED_JVM ? HostileGuests.whyNot() : Optional.empty();
    }

    /** Whether it is one thread that does all: the same seed does the same then. */
    boolean isOfOneThread() {
        return this == LOOKUPS || this == HANDLERS || this == IMPLEMENTATIONS || this == CALLBACKS || this == PAIRS
                || this == UNTAKEN;
    }

    /** {@return how many steps of it the gate runs over each provider, if it is of one thread} */
    int steps() {
        if (this == UNTAKEN) { return ROUNDS; }
        return this == CALLBACKS || this == PAIRS ? FEW_STEPS : MANY_STEPS;
    }

    void run(HostileRun run) throws Exception { program.run(run); }
}

package io.ofi4j.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionHandler;
import io.ofi4j.Domain;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.faults.AccessTarget.Page;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.VersionRange;
import io.ofi4j.support.FaultLink;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.ForEachProvider;
import io.ofi4j.support.Forked;
import io.ofi4j.support.TestProviders;
import io.ofi4j.support.TestSeed;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What a peer can reach that forges a region: holds "What a peer can reach" of core/guide/SECURITY-MODEL.md to it, for
 * each provider.
 */
@Tag("gate")
class RemoteAccessTest {
    /** In which shm does what is no longer than 4096 bytes at the target, with its key. */
    private static final VersionRange CHECKS_SHORT_ONES = VersionRange.from(2, 5).to(2, 5);

    /** What a peer tries. */
    private enum Attempt {
        WRITE_WITH_THE_KEY(Page.OPEN, true),
        READ_WITH_THE_KEY(Page.OPEN, false), //
        WRITE_WITH_A_GUESSED_KEY(Page.OPEN, true),
        READ_WITH_A_GUESSED_KEY(Page.OPEN, false), //
        WRITE_WITH_A_STALE_KEY(Page.STALE, true),
        READ_WITH_A_STALE_KEY(Page.STALE, false), //
        WRITE_BEYOND_THE_END(Page.NEVER, true),
        READ_BEYOND_THE_END(Page.NEVER, false), //
        WRITE_WITHOUT_THE_RIGHT(Page.READABLE, true),
        READ_WITHOUT_THE_RIGHT(Page.WRITABLE, false);

        private static final Random RANDOM = TestSeed.random("RemoteAccessTest");
        private static final long ALL = Access.REMOTE_READ.bit() | Access.REMOTE_WRITE.bit();

        private final Page page;
        private final boolean writes;

        Attempt(Page page, boolean writes) {
            this.page = page;
            this.writes = writes;
        }

        /** What is forged. */
        private RemoteRegion region(FaultPeer target) {
            return switch (page) {
                case NEVER -> forged(target.region(0), 0, Page.SIZE);
                case READABLE -> forged(target.region(1), 0, 0);
                case WRITABLE -> forged(target.region(2), 0, 0);
                case STALE -> target.region(3);
                case OPEN -> name().contains("GUESSED")
                        ? forged(target.region(0), 1 + RANDOM.nextLong(1L << 40), 0)
                        : target.region(0);
            };
        }

        private static RemoteRegion forged(RemoteRegion region, long otherKey, long longer) {
            return new RemoteRegion(region.base(), region.length() + longer, region.key() ^ otherKey, ALL);
        }

        /** A regular expression of what {@link Forges} prints. */
        private String expected(String provider) {
            if (name().endsWith("WITH_THE_KEY")) { return "let through, completed"; }
            if (provider.equals("shm")) {
                return CHECKS_SHORT_ONES.contains(Libfabric.load().version())
                        ? "kept out, completed"
                        : "let through, completed";
            }
            if (provider.endsWith("sockets")) { return "kept out, error 13"; }
            if (provider.contains("ofi_rxd")) {
                // as the refusal comes late or early
                return writes ? "kept out, (completed|silent)" : "kept out, silent";
            }
            return writes ? "kept out, (completed|error \\d+)" : "kept out, error \\d+"; // the connection ends
        }

        private boolean mayBeSilent(String provider) { return expected(provider).contains("silent"); }

        private long offset() { return page == Page.NEVER ? Page.SIZE : 0; }
    }

    @ForEachProvider
    @MethodSource("io.ofi4j.support.TestProviders#transfers")
    void whatAForgedRegionLetsThrough(String provider) {
        Forked.Result result = Forked.run(Forges.class, provider);

        assertThat(result.exit()).as(result.output()).isZero();
        for (Attempt attempt : Attempt.values()) {
            assertThat(result.output()).containsPattern("(?m)^" + attempt + ": " + attempt.expected(provider) + "$");
        }
    }

    /** The hostile peer. */
    static final class Forges {
        private static final long SECRET = 0x5ec7e7;
        private static final long MARK = 1;
        /** For what should not happen. */
        private static final Duration SILENCE_TIMEOUT = Duration.ofMillis(400);

        private final List<CompletionError> errors = new ArrayList<>();
        private int completed;
        private final CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long token, long flags, long length, long data) { completed++; }

            @Override
            public void onError(CompletionError error) { errors.add(error); }
        };

        private Forges() {}

        public static void main(String[] arguments) { new Forges().run(arguments[0]); }

        private void run(String provider) {
            AccessTarget.load(provider);
            FabricInfo info = TestProviders.info(provider);
            Fabric fabric = Libfabric.load().openFabric(info);
            Domain domain = fabric.openDomain();
            try (FaultPeer target = new FaultPeer(FaultPeer.ELSEWHERE, AccessTarget.class, provider)) {
                for (Attempt attempt : Attempt.values()) {
                    String[] outcome = new String[1];
                    try {
                        FaultWork.again(provider, () -> outcome[0] = outcome(fabric, domain, target, attempt));
                    } finally {
                        requireAlive(target);
                    }
                    System.out.println(attempt + ": " + outcome[0]);
                }
            }
        }

        private static void requireAlive(FaultPeer target) {
            if (!target.isAlive()) { throw new AssertionError("the target has died: " + target.output()); }
        }

        private String outcome(Fabric fabric, Domain domain, FaultPeer target, Attempt attempt) {
            errors.clear();
            completed = 0;
            target.put(attempt.page.offset(), SECRET);
            MemoryRegion local = domain.allocate(Long.BYTES, Access.READ, Access.WRITE);
            FaultLink link = new FaultLink(fabric, domain, target.address);
            local.segment().set(ValueLayout.JAVA_LONG, 0, MARK);
            post(link, attempt, attempt.region(target), local);
            boolean mayBeSilent = attempt.mayBeSilent(domain.info().provider());
            boolean answered = Waiting.YIELD.tryUntil(() -> link.polled(handler) && completed + errors.size() > 0,
                    mayBeSilent ? SILENCE_TIMEOUT : FaultWork.DEADLINE);
            if (!answered && !mayBeSilent) { throw new FaultWork.Stalled(attempt + " was not answered"); }
            String outcome = (came(attempt, domain.info().provider(), target, local) ? "let through, " : "kept out, ")
                    + told();
            if (!mayBeSilent) { // else closing takes ofi_rxd seconds
                link.close();
                local.close();
            }
            return outcome;
        }

        private void post(FaultLink link, Attempt attempt, RemoteRegion region, MemoryRegion local) {
            long offset = attempt.offset();
            Waiting.YIELD.until(
                    () -> link.polled(handler) && (attempt.writes
                            ? link.rma().tryWrite(local, 0, Long.BYTES, link.peer(), region, offset, 1)
                            : link.rma().tryRead(local, 0, Long.BYTES, link.peer(), region, offset, 1)),
                    FaultWork.DEADLINE);
        }

        /** A write may arrive later than it completes, when the target runs again. */
        private boolean came(Attempt attempt, String provider, FaultPeer target, MemoryRegion local) {
            boolean mustCome = attempt.expected(provider).startsWith("let through");
            return attempt.writes
                    ? Waiting.YIELD.tryUntil(() -> target.value(attempt.page.offset()) == MARK,
                            mustCome ? FaultWork.DEADLINE : SILENCE_TIMEOUT)
                    : local.segment().get(ValueLayout.JAVA_LONG, 0) == SECRET;
        }

        private String told() {
            if (errors.isEmpty()) { return completed > 0 ? "completed" : "silent"; }
            return "error " + errors.getFirst().errno();
        }
    }
}

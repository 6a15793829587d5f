package io.ofi4j.internal.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.internal.engine.FabricLock;
import io.ofi4j.internal.engine.ThreadGuard;
import io.ofi4j.internal.observe.LockOrder.Rank;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The order of locks, which assertions check in every test. */
@Tag("once")
class LockOrderTest {
    private final Object domain = "a domain";
    private final Object vector = "a vector";
    private final FabricLock fabricLock = new FabricLock();
    private final ThreadGuard guard = ThreadGuard.exclusive();
    private final ThreadGuard other = ThreadGuard.exclusive();

    @Test
    void assertionsAreOnInTests() {
        assertThat(LockOrder.class.desiredAssertionStatus()).isTrue();
        assertThat(ThreadGuard.class.desiredAssertionStatus()).isTrue();
    }

    @Test
    void aMonitorInsideAGuardThatComesAfterItIsFound() {
        try (var _ = guard.enter()) {
            synchronized (domain) {
                assertThatThrownBy(() -> LockOrder.taken(Rank.DOMAIN, domain)).isInstanceOf(AssertionError.class)
                        .hasMessageContaining("DOMAIN of a domain is taken inside QUEUE");
            }
        }
    }

    @Test
    void theLockOfAFabricInsideTheMonitorOfAVectorIsFound() {
        synchronized (vector) {
            LockOrder.taken(Rank.VECTOR, vector);

            assertThatThrownBy(() -> fabricLock.locked(() -> {})).isInstanceOf(AssertionError.class)
                    .hasMessageContaining("FABRIC_LOCK").hasMessageContaining("inside VECTOR of a vector");
        }
    }

    @Test
    void whatIsTakenInOrderPasses() {
        synchronized (domain) {
            LockOrder.taken(Rank.DOMAIN, domain);
            fabricLock.locked(() -> {
                synchronized (vector) {
                    LockOrder.taken(Rank.VECTOR, vector);
                    guard.enter().exit();
                }
            });
        }
    }

    @Test
    void whatIsHeldAlreadyMayBeTakenAgain() {
        synchronized (domain) {
            LockOrder.taken(Rank.DOMAIN, domain);
            try (var _ = guard.enter()) {
                assertThat(LockOrder.taken(Rank.DOMAIN, domain)).isTrue();
            }
        }
    }

    @Test
    void aLockThatWasReleasedIsForgotten() {
        guard.enter().exit();
        synchronized (domain) {
            assertThat(LockOrder.taken(Rank.DOMAIN, domain)).isTrue();
        }
        fabricLock.locked(() -> {});
    }

    @Test
    void twoGuardsAreEnteredOnlyInsideTheLockOfTheFabric() {
        fabricLock.locked(() -> {
            try (var _ = guard.enter()) {
                other.enter().exit();
            }
        });
        try (var _ = guard.enter()) {
            assertThatThrownBy(other::enter).isInstanceOf(AssertionError.class).hasMessageContaining("inside QUEUE");
        }
    }

    @Test
    void aMonitorThatIsNotHeldIsNotNoted() {
        LockOrder.takenIfHeld(Rank.VECTOR, vector);

        synchronized (domain) {
            assertThat(LockOrder.taken(Rank.DOMAIN, domain)).isTrue();
        }
    }
}

package io.ofi4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ofi4j.verbs.internal.Rollback;
import org.junit.jupiter.api.Test;

/** What becomes of a half-built object. */
class RollbackTest {
    private int undone;

    private static String failing() { throw new StackOverflowError("the rest"); }

    @Test
    void whatIsBuiltStays() {
        assertThat(Rollback.ifFails(() -> undone++, () -> "built")).isEqualTo("built");
        assertThat(undone).isZero();
    }

    @Test
    void whatIsHalfBuiltIsUndoneOnce() {
        assertThatThrownBy(() -> Rollback.ifFails(() -> undone++, RollbackTest::failing))
                .isInstanceOf(StackOverflowError.class);
        assertThat(undone).isOne();
    }

    @Test
    void aFailingUndoDoesNotHideWhyTheRestFailed() {
        IllegalStateException second = new IllegalStateException("the undo");

        assertThatThrownBy(() -> Rollback.ifFails(() -> {
            throw second;
        }, RollbackTest::failing)).hasMessage("the rest").hasSuppressedException(second);
    }
}

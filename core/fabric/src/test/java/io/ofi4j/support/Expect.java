package io.ofi4j.support;

import java.util.ArrayList;
import java.util.List;

/**
 * Which exceptions a call must throw by the model; none where it must succeed. Of several reasons any may be the one.
 */
public final class Expect {
    private final String call;
    private final List<Class<? extends Throwable>> reasons = new ArrayList<>();
    private final List<Class<? extends Throwable>> tolerated = new ArrayList<>();

    public Expect(String call) { this.call = call; }

    /** A reason for the call to fail, if the condition holds. */
    public Expect refused(boolean condition, Class<? extends Throwable> exception) {
        if (condition) { reasons.add(exception); }
        return this;
    }

    /** An exception that may come, which is the provider's business. */
    public Expect tolerated(boolean condition, Class<? extends Throwable> exception) {
        if (condition) { tolerated.add(exception); }
        return this;
    }

    public boolean isRefused() { return !reasons.isEmpty(); }

    /** Makes the call: whether it went well. */
    public boolean run(Runnable code) {
        try {
            code.run();
        } catch (RuntimeException e) {
            if (reasons.stream().anyMatch(reason -> reason.isInstance(e))
                    || tolerated.stream().anyMatch(type -> type.isInstance(e))) {
                return false;
            }
            throw new AssertionError(call + " threw " + e + " where the model says " + this, e);
        }
        if (!reasons.isEmpty()) { throw new AssertionError(call + " succeeded where the model says " + this); }
        return true;
    }

    @Override
    public String toString() {
        return reasons.isEmpty() ? "success" : String.join(" or ", reasons.stream().map(Class::getSimpleName).toList());
    }
}

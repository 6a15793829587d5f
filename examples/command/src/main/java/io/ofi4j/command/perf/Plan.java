package io.ofi4j.command.perf;

import io.ofi4j.Access;
import java.util.List;
import java.util.Optional;

/**
 * What both ends need for some of the sizes. Messages of another size have ends of their own: receives of this one stay
 * posted.
 *
 * @param operation what is measured
 * @param window how many operations are in flight
 * @param sizes how many bytes these transfer
 * @param length how many bytes the target's region has
 * @param conversation how messages go, where that is measured
 */
record Plan(Operation operation, int window, List<Long> sizes, long length, Optional<Conversation> conversation) {
    private static final int VERIFICATION_SLOTS = 256;
    private static final int FEWEST_RECEIVES = 64;

    /** {@return the plans for all sizes} */
    static List<Plan> of(Settings settings, Traits traits) {
        return settings.operation().isTwoSided() || settings.pingPong()
                ? settings.sizes().stream().map(size -> ofMessages(settings, size, traits)).toList()
                : List.of(new Plan(settings.operation(), settings.window(), settings.sizes(), longest(settings),
                        Optional.empty()));
    }

    /** {@return how many bytes the target needs for any of these} */
    static long longest(Settings settings) {
        return settings.sizes().stream().mapToLong(size -> layout(settings.window(), size).regionLength()).max()
                .orElseThrow();
    }

    private static Plan ofMessages(Settings settings, long size, Traits traits) {
        int receives = Math.clamp(Math.max(FEWEST_RECEIVES, 2 * settings.window()), 1,
                (int) Math.max(1, Math.min(VERIFICATION_SLOTS, traits.receives() / 2)));
        Layout layout = Layout.of(size, receives);
        return new Plan(settings.operation(), settings.window(), List.of(size), longest(settings),
                Optional.of(new Conversation(layout, settings.pingPong())));
    }

    Layout layout(long size) { return conversation.map(Conversation::layout).orElseGet(() -> layout(window, size)); }

    private static Layout layout(int window, long size) {
        return Layout.of(size, Math.max(window, VERIFICATION_SLOTS));
    }

    /** {@return whether writes with data are answered by such writes} */
    boolean answersWrites() {
        return operation == Operation.WRITEDATA && conversation.isPresent();
    }

    /** {@return whether the target takes part} */
    boolean hasResponder() {
        return operation.isTwoSided() || answersWrites();
    }

    /** {@return whether something comes back beside the completion, into memory of its own} */
    boolean hasAnswers() {
        return operation.hasAnswers() || answersWrites();
    }

    /** {@return what an end's region must allow} */
    Access[] access(boolean isTarget) {
        if (answersWrites()) { return new Access[]{Access.READ, Access.WRITE, Access.REMOTE_WRITE}; }
        return isTarget ? operation.remoteAccess() : operation.localAccess();
    }

    /** {@return how many bytes an end receives at most in a message, 0 if it receives none} */
    long longestReceive(boolean isTarget) {
        return conversation.map(asked -> asked.longest(isTarget)).orElse(0L);
    }

    /** {@return how many operations an end has in flight beside those that it receives} */
    int inFlight(boolean isTarget) {
        return (isTarget ? 1 : window) + conversation.map(Conversation::room).orElse(0);
    }
}

package io.ofi4j.command.perf;

import io.ofi4j.command.control.ControlException;
import io.ofi4j.command.control.Frame;
import io.ofi4j.command.control.PayloadReader;
import io.ofi4j.command.control.PayloadWriter;
import io.ofi4j.info.EndpointType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a client wants its server to measure in the other direction.
 *
 * @param sizes how many bytes an operation transfers
 * @param iterations how many operations a pass has, where the user says it
 * @param duration how many nanoseconds a pass takes, where the user says it
 * @param warmUp how many operations go before, where the user says it
 * @param rate how many operations begin in a second, where the user says it
 * @param window how many operations are in flight
 * @param pingPong whether each message is answered
 * @param verify whether the data is verified
 */
record Reverse(List<Long> sizes, OptionalLong iterations, OptionalLong duration, OptionalLong warmUp, OptionalLong rate,
        int window, boolean pingPong, boolean verify) {
    private static final int MOST_SIZES = 64;
    private static final int LARGEST_WINDOW = 4096;
    private static final long NOT_SAID = -1;

    static Reverse of(Settings settings) {
        return new Reverse(settings.sizes(), settings.iterations(), settings.duration(), settings.warmUp(),
                settings.rate(), settings.window(), settings.pingPong(), settings.verify());
    }

    PayloadWriter encode() {
        PayloadWriter writer = new PayloadWriter().number(iterations.orElse(NOT_SAID)).number(duration.orElse(NOT_SAID))
                .number(warmUp.orElse(NOT_SAID)).number(rate.orElse(NOT_SAID)).number(window).number(pingPong ? 1 : 0)
                .number(verify ? 1 : 0).number(sizes.size());
        sizes.forEach(writer::number);
        return writer;
    }

    static Reverse decode(Frame frame) throws ControlException {
        PayloadReader reader = frame.reader();
        OptionalLong iterations = optional(reader);
        OptionalLong duration = optional(reader);
        OptionalLong warmUp = optional(reader);
        OptionalLong rate = rate(reader);
        int window = (int) reader.number(1, LARGEST_WINDOW);
        boolean pingPong = reader.number(0, 1) == 1;
        boolean verify = reader.number(0, 1) == 1;
        List<Long> sizes = new ArrayList<>();
        for (long left = reader.number(1, MOST_SIZES); left > 0; left--) {
            sizes.add(reader.number(0, Numbers.LARGEST_SIZE));
        }
        reader.end();
        return new Reverse(sizes, iterations, duration, warmUp, rate, window, pingPong, verify);
    }

    private static OptionalLong rate(PayloadReader reader) throws ControlException {
        long value = reader.number(NOT_SAID, Numbers.HIGHEST_RATE);
        return value < 1 ? OptionalLong.empty() : OptionalLong.of(value);
    }

    private static OptionalLong optional(PayloadReader reader) throws ControlException {
        long value = reader.number(NOT_SAID, Long.MAX_VALUE);
        return value == NOT_SAID ? OptionalLong.empty() : OptionalLong.of(value);
    }

    /** No client of this release asks for what its own command line refuses. */
    void require(Operation operation) throws ControlException {
        if (pingPong && (!operation.canBeAnswered() || rate.isPresent() || window != 1)) {
            throw new ControlException(ControlException.Reason.GARBAGE, "wants a ping-pong that there is not");
        }
    }

    /** {@return the settings of the server, which measures in step with another} */
    Settings settings(Operation operation, Traits traits, Duration timeout) {
        return new Settings(operation, traits.provider(), false, EndpointType.RDM, Optional.empty(), Optional.empty(),
                Optional.empty(), sizes, iterations, duration, warmUp, rate, window, 1, true, pingPong, verify,
                Optional.empty(), Optional.empty(), Optional.empty(), timeout);
    }
}

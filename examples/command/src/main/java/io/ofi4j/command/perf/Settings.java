package io.ofi4j.command.perf;

import io.ofi4j.info.EndpointType;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What the user asked for.
 *
 * @param operation what is measured
 * @param provider which provider
 * @param isUsualProvider whether that is the command's own choice
 * @param endpoint which type of endpoints
 * @param domain which device, or whichever
 * @param source this side's address, or the loopback address
 * @param host where the server is, or nothing where both ends are in this process
 * @param sizes how many bytes an operation transfers, or a selection
 * @param iterations how many operations a pass has, or as many as take half a second
 * @param duration how long a pass takes, in nanoseconds, where the user says it
 * @param warmUp how many operations go before, or as many as take a third of a second
 * @param rate how many operations begin in a second, or as many as the window lets
 * @param window how many operations are in flight
 * @param threads how many threads measure at the same time
 * @param bidirectional whether the server measures the other direction at the same time
 * @param pingPong whether each message is answered by one as long
 * @param verify whether the data is verified
 * @param threading the threading model, or the fast one
 * @param progress the progress model, or the fast one
 * @param memory whose memory this end has, where one of the two ends is on a device
 * @param timeout how long anything may take to move
 */
record Settings(Operation operation, String provider, boolean isUsualProvider, EndpointType endpoint,
        Optional<String> domain, Optional<String> source, Optional<String> host, List<Long> sizes,
        OptionalLong iterations, OptionalLong duration, OptionalLong warmUp, OptionalLong rate, int window, int threads,
        boolean bidirectional, boolean pingPong, boolean verify, Optional<ThreadingModel> threading,
        Optional<ProgressModel> progress, Optional<MemoryChoice> memory, Duration timeout) {}

package io.ofi4j.conformance.rules;

import io.ofi4j.Access;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.conformance.Absent;
import io.ofi4j.conformance.Ends;
import io.ofi4j.conformance.JavaProcess;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.Wrong;
import io.ofi4j.errors.FabricException;
import io.ofi4j.info.EndpointType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/**
 * A value of an environment variable of libfabric that it takes, but cannot work with, is refused. In a process of its
 * own, which reads its environment when it loads libfabric.
 */
final class EnvironmentRule {
    static final String NAME = "a variable with an impossible value";

    /** How many addresses a vector is to expect. */
    private static final String ADDRESSES = "FI_UNIVERSE_SIZE";
    private static final int SIZE = 64;
    private static final long TOKEN = 7;
    private static final String WRITTEN = "written";
    private static final String REFUSED = "refused: ";

    private EnvironmentRule() {}

    /** A variable of a provider, with a value. */
    private record Variable(String name, String value) {}

    static void run(Subject subject) throws InterruptedException {
        Variable variable = variable(subject.provider());
        String words = variable.name + "=" + variable.value;
        try (JavaProcess process = JavaProcess.startAnswering(List.of(), EnvironmentRule.class,
                List.of(subject.provider(), subject.type().name(), Long.toString(subject.deadline().toMillis()),
                        subject.source().orElse(""), variable.name, variable.value))) {
            Optional<String> line = process.line(subject.deadline().multipliedBy(2));
            if (line.isPresent() && line.get().startsWith(REFUSED)) {
                throw new UnsupportedOperationException(line.get().substring(REFUSED.length()));
            }
            if (!line.equals(Optional.of(WRITTEN))) { // a JVM that crashes prints something, too
                throw new Wrong("a process with " + words, process.ending(), "a write or a refusal");
            }
        } catch (TimeoutException e) {
            throw new Absent("what a process with " + words + " says", subject.deadline().multipliedBy(2));
        }
    }

    private static Variable variable(String provider) {
        if (provider.endsWith(";ofi_rxm")) { return new Variable(ADDRESSES, Long.toString(Long.MAX_VALUE)); }
        if (provider.endsWith(";ofi_rxd")) { return new Variable("FI_OFI_RXD_MAX_UNACKED", "0"); }
        return switch (provider) {
            case "sockets" -> new Variable("FI_SOCKETS_DEF_CONN_MAP_SZ", "0");
            case "shm", "tcp", "net" -> new Variable(ADDRESSES, Long.toUnsignedString(Long.MIN_VALUE));
            default -> throw new UnsupportedOperationException("no such variable of it is known");
        };
    }

    /**
     * Writes, and says so.
     *
     * @param arguments provider, type, deadline in milliseconds, address or nothing, variable, value
     */
    public static void main(String[] arguments) {
        Libfabric.load(Map.of(arguments[4], arguments[5]));
        Subject subject = new Subject(arguments[0], EndpointType.valueOf(arguments[1]),
                Optional.of(arguments[3]).filter(address -> !address.isEmpty()),
                Duration.ofMillis(Long.parseLong(arguments[2])));
        try (Ends ends = new Ends(subject);
                MemoryRegion source = ends.domain.allocate(SIZE, Access.WRITE);
                MemoryRegion target = ends.domain.allocate(SIZE, Access.REMOTE_WRITE)) {
            ends.near.endpoint().rma().write(source.slice(0, SIZE), ends.peer, target.remote(), TOKEN);
            ends.awaitToken(TOKEN);
        } catch (UnsupportedOperationException e) {
            JavaProcess.answers().println(REFUSED + e.getMessage());
            return;
        } catch (FabricException e) { // a device may have less than the variable asks for
            if (!e.getMessage().contains(arguments[4])) { throw e; }
            JavaProcess.answers().println(REFUSED + e.getMessage());
            return;
        }
        JavaProcess.answers().println(WRITTEN);
    }
}

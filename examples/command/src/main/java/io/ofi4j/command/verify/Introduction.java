package io.ofi4j.command.verify;

import io.ofi4j.command.Release;
import io.ofi4j.command.control.ControlException;
import io.ofi4j.command.control.ControlException.Reason;
import io.ofi4j.command.control.Frame;
import io.ofi4j.command.control.PayloadReader;
import io.ofi4j.command.control.PayloadWriter;
import io.ofi4j.conformance.Subject;
import io.ofi4j.info.EndpointType;
import java.time.Duration;

/**
 * What a side says of itself before anything is tried.
 *
 * @param release which ofi4j
 * @param libfabric which libfabric
 * @param provider over which provider
 * @param type with which endpoints
 * @param deadline how long a trial waits, in milliseconds; that of the client counts
 */
record Introduction(String release, String libfabric, String provider, String type, long deadline) {
    private static final int LONGEST_TEXT = 400;
    private static final long LONGEST_DEADLINE = Duration.ofDays(1).toMillis();

    static Introduction of(Subject subject, String libfabric) {
        return new Introduction(Release.VERSION, libfabric, subject.provider(), subject.type().name(),
                subject.deadline().toMillis());
    }

    PayloadWriter encode() {
        return new PayloadWriter().text(release).text(libfabric).text(provider).text(type).number(deadline);
    }

    static Introduction decode(Frame frame) throws ControlException {
        PayloadReader reader = frame.reader();
        Introduction introduction = new Introduction(reader.text(LONGEST_TEXT), reader.text(LONGEST_TEXT),
                reader.text(LONGEST_TEXT), reader.text(LONGEST_TEXT), reader.number(1, LONGEST_DEADLINE));
        reader.end();
        return introduction;
    }

    /** What a server demands of a client. Another libfabric is allowed, but where the two share memory. */
    void require(Introduction server) throws ControlException {
        require("runs ofi4j", release, server.release, "run the same release at both ends");
        require("uses provider", provider + " " + type, server.provider + " " + server.type,
                "give both the same provider (-p) and endpoints (-e)");
        if (isOfOneMachine()) {
            require("uses libfabric", libfabric, server.libfabric, "processes that share memory need the same version");
        }
        EndpointType.valueOf(type); // as that of the server
    }

    /** Whether its endpoints reach processes of the same machine only. */
    boolean isOfOneMachine() {
        return provider.equals("shm") || provider.equals("sm2");
    }

    private static void require(String what, String client, String server, String remedy) throws ControlException {
        if (!client.equals(server)) {
            throw new ControlException(Reason.REFUSED,
                    "the client " + what + " " + client + ", the server " + server + ": " + remedy + ".");
        }
    }
}

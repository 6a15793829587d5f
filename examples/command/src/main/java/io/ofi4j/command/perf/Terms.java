package io.ofi4j.command.perf;

import io.ofi4j.command.Release;
import io.ofi4j.command.control.ControlException;
import io.ofi4j.command.control.ControlException.Reason;
import java.util.List;
import java.util.Optional;

/**
 * What a server demands of clients.
 *
 * @param operation what they measure
 * @param provider over which provider, and with which endpoints
 * @param libfabric this side's libfabric
 * @param sizes how many bytes operations have, or whatever is not too much
 * @param regionLength how many bytes a client can have at most
 */
record Terms(Operation operation, String provider, String libfabric, Optional<List<Long>> sizes, long regionLength) {
    /** The most that a client gets of a server that was not told the sizes. */
    static final long DEFAULT_LENGTH = 512L << 20;

    void require(Setup setup) throws ControlException {
        require("runs ofi4j", setup.release(), Release.VERSION, "run the same release at both ends");
        require("measures", setup.operation(), operation.toString(), "start both with the same operation");
        require("uses provider", setup.provider(), provider,
                "give both the same provider (-p) and endpoints (-e), and --device to both or to none");
        if (provider.startsWith("shm")) {
            require("uses libfabric", setup.libfabric(), libfabric,
                    "processes that share memory need the same version");
        }
        if (sizes.isPresent()) {
            require("has sizes", setup.sizes(), Setup.text(sizes.get()), "give both the same sizes (-S)");
        }
        requireRoom(setup.regionLength());
    }

    void requireRoom(long length) throws ControlException {
        if (length > regionLength) {
            throw new ControlException(Reason.REFUSED, "the client needs " + length + " bytes here, the server allows "
                    + regionLength + ": give the server the client's sizes (-S) and window (-W).");
        }
    }

    private static void require(String what, String client, String server, String remedy) throws ControlException {
        if (!client.equals(server)) {
            throw new ControlException(Reason.REFUSED,
                    "the client " + what + " " + client + ", the server " + server + ": " + remedy + ".");
        }
    }
}

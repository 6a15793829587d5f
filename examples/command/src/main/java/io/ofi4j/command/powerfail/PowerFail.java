package io.ofi4j.command.powerfail;

import io.ofi4j.Domain;
import io.ofi4j.Libfabric;
import io.ofi4j.command.Loopback;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import java.io.IOException;
import java.util.Arrays;

/**
 * What {@code scripts/powerfail} runs: an owner of files, a peer that writes into them and prints which saves came
 * back, and a check of what is left of the files. No part of the {@code ofi4j} command.
 */
public final class PowerFail {
    private PowerFail() {}

    /** The first argument is {@code owner}, {@code writer} or {@code check}; the others are for that. */
    public static void main(String[] arguments) throws IOException {
        String[] others = arguments.length == 0 ? arguments : Arrays.copyOfRange(arguments, 1, arguments.length);
        switch (arguments.length == 0 ? "" : arguments[0]) {
            case "owner" -> Owner.run(others);
            case "writer" -> Writer.run(others);
            case "check" -> Check.run(others);
            default -> {
                System.err.println("PowerFail takes owner, writer or check, and what scripts/powerfail gives it");
                System.exit(2);
            }
        }
    }

    /** It is not closed: who opens it runs until it is killed. */
    static Domain openDomain(String provider) {
        Libfabric libfabric = Libfabric.load();
        FabricHints hints = FabricHints.rma().capabilities(Capability.RMA, Capability.MSG).provider(provider);
        if (!provider.equals("shm")) { hints = hints.source(Loopback.ADDRESS, "0"); } // needs no network
        return libfabric.openFabric(libfabric.info(hints).getFirst()).openDomain();
    }
}

package io.ofi4j.command.info;

import io.ofi4j.info.FabricInfo;
import java.io.PrintWriter;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** One info after the other, in fi_info's form, which scripts may read. */
final class InfoList {
    private InfoList() {}

    static void print(PrintWriter out, List<FabricInfo> infos) {
        for (FabricInfo info : infos) {
            out.printf("provider: %s%n", info.provider());
            line(out, "fabric", info.fabric().name());
            line(out, "domain", info.domain().name());
            line(out, "version", info.fabric().providerVersion());
            line(out, "type", "FI_EP_" + info.endpoint().type());
            line(out, "protocol", protocol(info));
        }
    }

    /** As with -l: the providers, each once. */
    static void printProviders(PrintWriter out, List<FabricInfo> infos) {
        Set<String> printed = new HashSet<>();
        for (FabricInfo info : infos) {
            Object version = info.fabric().providerVersion();
            if (printed.add(info.provider() + " " + version)) {
                out.printf("%s:%n", info.provider());
                line(out, "version", version);
            }
        }
    }

    /** As with -v: libfabric's text of all of them. */
    static void printDetails(PrintWriter out, List<FabricInfo> infos) {
        for (FabricInfo info : infos) {
            out.println("---");
            out.println(info.details().strip());
        }
    }

    /** A protocol that libfabric knows no name of is a number. */
    private static String protocol(FabricInfo info) {
        String name = info.protocolName();
        return name.matches("[A-Z].*") ? "FI_PROTO_" + name : name;
    }

    private static void line(PrintWriter out, String name, Object value) {
        out.printf("    %s: %s%n", name, value == null ? "(null)" : value);
    }
}

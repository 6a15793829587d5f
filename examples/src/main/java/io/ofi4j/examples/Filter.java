package io.ofi4j.examples;

import io.ofi4j.FabricInfo;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Keeps what has a name: most software providers of libfabric 1.17 take any name for a domain or a fabric. */
public final class Filter {
    private Filter() {
    }

    /** {@return what has this domain; all where it is null} */
    public static List<FabricInfo> byDomain(List<FabricInfo> infos, String name) {
        return by("domain", name, infos, info -> info.domain().name());
    }

    /** {@return what has this fabric; all where it is null} */
    public static List<FabricInfo> byFabric(List<FabricInfo> infos, String name) {
        return by("fabric", name, infos, info -> info.fabric().name());
    }

    private static List<FabricInfo> by(String what, String name, List<FabricInfo> infos,
            Function<FabricInfo, String> nameOf) {
        List<FabricInfo> kept = infos.stream().filter(info -> name == null || name.equals(nameOf.apply(info))).toList();
        if (kept.isEmpty()) {
            String providers = names(infos, FabricInfo::provider);
            throw new CommandFailure("There is no " + what + " '" + name + "' of " + providers + "; there is "
                    + names(infos, nameOf) + ".");
        }
        return kept;
    }

    private static String names(List<FabricInfo> infos, Function<FabricInfo, String> nameOf) {
        return infos.stream().map(info -> String.valueOf(nameOf.apply(info)))
                .collect(Collectors.toCollection(TreeSet::new)).stream().collect(Collectors.joining(", "));
    }
}

package io.ofi4j;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Finds out which of the hints nothing matches, by asking again for less. */
final class Discovery {
    private final Libfabric libfabric;

    Discovery(Libfabric libfabric) {
        this.libfabric = libfabric;
    }

    String whyNothingMatches(FabricHints hints) {
        FabricHints less = FabricHints.any().threading(ThreadingModel.UNSPECIFIED);
        List<FabricInfo> there = libfabric.infoOrNothing(less);
        if (hints.provider().isPresent()) {
            List<FabricInfo> all = there;
            less = less.provider(hints.provider().get());
            there = libfabric.infoOrNothing(less);
            if (there.isEmpty()) {
                return "No provider '" + hints.provider().get() + "' can be used on this machine; " + libfabric
                        + " has " + names(all, FabricInfo::provider) + ".";
            }
        }
        String who = hints.provider().map(name -> "provider " + name).orElse("any provider");
        if (hints.domain().isPresent()) {
            List<FabricInfo> all = there;
            less = less.domain(hints.domain().get());
            there = libfabric.infoOrNothing(less);
            if (there.isEmpty()) {
                return "There is no domain '" + hints.domain().get() + "' of " + who + "; there is "
                        + names(all, info -> info.domain().name()) + ".";
            }
        }
        if (hints.fabric().isPresent()) {
            List<FabricInfo> all = there;
            less = less.fabric(hints.fabric().get());
            there = libfabric.infoOrNothing(less);
            if (there.isEmpty()) {
                return "There is no fabric '" + hints.fabric().get() + "' of " + who + "; there is "
                        + names(all, info -> info.fabric().name()) + ".";
            }
        }
        return whatEndpointsLack(hints, less, there, who);
    }

    private String whatEndpointsLack(FabricHints hints, FabricHints asked, List<FabricInfo> there, String who) {
        FabricHints typed = asked.endpointType(hints.endpointType());
        List<FabricInfo> ofType = libfabric.infoOrNothing(typed);
        if (ofType.isEmpty()) {
            return "Endpoints of type " + hints.endpointType() + " are not offered by " + who + "; there is "
                    + names(there, info -> info.endpoint().type().name()) + ".";
        }
        if (libfabric.infoOrNothing(typed.capabilities(hints.capabilities().toArray(Capability[]::new))).isEmpty()) {
            Set<Capability> offered = EnumSet.noneOf(Capability.class);
            ofType.forEach(info -> offered.addAll(info.capabilities()));
            Set<Capability> lacking = EnumSet.noneOf(Capability.class);
            lacking.addAll(hints.capabilities());
            lacking.removeAll(offered);
            return (lacking.isEmpty()
                    ? "The capabilities " + hints.capabilities() + " together"
                    : "Of capabilities, " + lacking) + " cannot be had of " + who + " with endpoint type "
                    + hints.endpointType() + "; it has " + offered + ".";
        }
        FabricHints capable = typed.capabilities(hints.capabilities().toArray(Capability[]::new));
        OperationFlag[] flags = hints.operationFlags().toArray(OperationFlag[]::new);
        if (libfabric.infoOrNothing(capable.operationFlags(flags)).isEmpty()) {
            return "Operations that have the flags " + hints.operationFlags() + " by default are not offered by " + who
                    + "; ask for others, or say them of single operations.";
        }
        if (libfabric.infoOrNothing(capable.threading(hints.threading())).isEmpty()) {
            return "Threading model " + hints.threading() + " is not offered by " + who + "; ask for another.";
        }
        FabricHints progressing = capable.threading(hints.threading()).controlProgress(hints.controlProgress())
                .dataProgress(hints.dataProgress());
        if (libfabric.infoOrNothing(progressing).isEmpty()) {
            return "Control progress " + hints.controlProgress() + " and data progress " + hints.dataProgress()
                    + " together are not offered by " + who + "; leave one UNSPECIFIED.";
        }
        if (!hints.attributes().isEmpty()
                && libfabric.infoOrNothing(progressing.attributes(hints.attributes())).isEmpty()) {
            return "The attributes " + hints.attributes() + " together are not offered by " + who + "; ask for less.";
        }
        if (hints.node().isPresent() || hints.service().isPresent()) {
            return "Nothing matches the " + (hints.isSource() ? "source" : "destination") + " address "
                    + hints.node().orElse("*") + ":" + hints.service().orElse("*") + " with " + who
                    + ": is it an address of " + (hints.isSource() ? "this" : "a reachable") + " machine?";
        }
        return "Nothing matches: " + hints + ". Ask for less, or list what there is with Libfabric.providers().";
    }

    private static String names(List<FabricInfo> infos, Function<FabricInfo, String> name) {
        Set<String> names = infos.stream().map(name).filter(text -> text != null)
                .collect(Collectors.toCollection(TreeSet::new));
        return names.isEmpty() ? "none" : String.join(", ", names);
    }
}

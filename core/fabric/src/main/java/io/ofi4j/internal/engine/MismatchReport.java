package io.ofi4j.internal.engine;

import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.quirks.Remedies;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the hint that nothing matches, by asking for one more at a time. */
public final class MismatchReport {
    private final Function<FabricHints, List<FabricInfo>> find;
    private final Object libfabric;
    private final FabricHints hints;
    private final String providerText;
    private FabricHints tried = FabricHints.any().threading(ThreadingModel.UNSPECIFIED);
    /** The infos that matched before the last hint was added. */
    private List<FabricInfo> matches;

    /** Whether an info matches whose provider needs room for a prefix before each message. */
    private final Predicate<FabricHints> findsPrefixed;

    public MismatchReport(Object libfabric, Function<FabricHints, List<FabricInfo>> find,
            Predicate<FabricHints> findsPrefixed, FabricHints hints) {
        this.find = find;
        this.findsPrefixed = findsPrefixed;
        this.libfabric = libfabric;
        this.hints = hints;
        this.providerText = hints.provider().map(name -> "provider " + name).orElse("any provider");
        this.matches = find.apply(tried);
    }

    public String explanation() {
        return provider().or(() -> askName("domain", hints.domain(), tried::domain, info -> info.domain().name()))
                .or(() -> askName("fabric", hints.fabric(), tried::fabric, info -> info.fabric().name()))
                .or(this::endpointType).or(this::capabilities)
                .or(() -> ask(tried.operationFlags(hints.operationFlags().toArray(OperationFlag[]::new)),
                        "Operations that have the flags " + hints.operationFlags() + " by default are",
                        "ask for others, or set them on single operations"))
                .or(() -> ask(tried.receiveOperationFlags(hints.receiveOperationFlags().toArray(OperationFlag[]::new)),
                        "Receives that have the flags " + hints.receiveOperationFlags() + " by default are",
                        "ask for none"))
                .or(() -> ask(tried.threading(hints.threading()), "Threading model " + hints.threading() + " is",
                        "ask for another"))
                .or(() -> ask(tried.controlProgress(hints.controlProgress()).dataProgress(hints.dataProgress()),
                        "Control progress " + hints.controlProgress() + " and data progress " + hints.dataProgress()
                                + " together are",
                        "leave one UNSPECIFIED"))
                .or(() -> ask(tried.attributes(hints.attributes()),
                        "The attributes " + hints.attributes() + " together are", "ask for less"))
                .or(this::addressFormat).or(this::address).orElseGet(() -> "Nothing matches: " + hints
                        + ". Ask for less, or list what there is with Libfabric.providers().");
    }

    /** Adds a hint. Returns the sentence if nothing matches any more. */
    private Optional<String> ask(FabricHints more, String sentence) {
        tried = more;
        List<FabricInfo> found = find.apply(more);
        if (found.isEmpty()) { return Optional.of(sentence); }
        matches = found;
        return Optional.empty();
    }

    private Optional<String> ask(FabricHints more, String what, String instead) {
        return ask(more, what + " not offered by " + providerText + "; " + instead + ".");
    }

    private Optional<String> askName(String what, Optional<String> wanted, Function<String, FabricHints> more,
            Function<FabricInfo, String> its) {
        return wanted.flatMap(name -> ask(more.apply(name),
                "There is no " + what + " '" + name + "' of " + providerText + "; there is " + names(its) + "."));
    }

    private Optional<String> provider() {
        return hints.provider()
                .flatMap(name -> ask(tried.provider(name), "No provider '" + name + "' can be used on this machine; "
                        + libfabric + " has " + names(FabricInfo::provider) + "." + Remedies.ofMissing(name)));
    }

    private Optional<String> endpointType() {
        String what = "Endpoints of type " + hints.endpointType();
        String instead = "there is " + names(info -> info.endpoint().type().name());
        return ask(tried.endpointType(hints.endpointType()), what + " are", instead)
                .map(sentence -> findsPrefixed.test(tried)
                        ? what + " of " + providerText
                                + " need room for a header before each message (FI_MSG_PREFIX), which ofi4j"
                                + " does not keep; " + instead + "."
                        : sentence);
    }

    private Optional<String> capabilities() {
        Set<Capability> offered = new TreeSet<>();
        matches.forEach(info -> offered.addAll(info.capabilities()));
        Set<Capability> lacking = new TreeSet<>(hints.capabilities());
        lacking.removeAll(offered);
        return ask(tried.capabilities(hints.capabilities().toArray(Capability[]::new)),
                "The capabilities " + (lacking.isEmpty() ? hints.capabilities() + " together" : lacking)
                        + " are not offered by " + providerText + " with endpoint type " + hints.endpointType()
                        + "; it has " + offered + ".");
    }

    private Optional<String> addressFormat() {
        return ask(tried.addressFormat(hints.addressFormat()),
                "Addresses of the format " + hints.addressFormat() + " are not offered by " + providerText + ".");
    }

    private Optional<String> address() {
        boolean hasDestination = hints.destinationNode().isPresent() || hints.destinationAddress().isPresent();
        boolean hasSource = hints.sourceNode().isPresent() || hints.sourceService().isPresent()
                || hints.sourceAddress().isPresent();
        if (!hasSource && !hasDestination) { return Optional.empty(); }
        Optional<String> unknown = Stream.of(hints.sourceNode(), hints.destinationNode()).flatMap(Optional::stream)
                .filter(node -> hints.isNumericHost() ? !isNumeric(node) : isUnknownHost(node)).findFirst();
        if (unknown.isPresent()) {
            return Optional.of(hints.isNumericHost()
                    ? "The host '" + unknown.get()
                            + "' is no numeric address, and FabricHints.numericHost asks for one."
                    : "The host '" + unknown.get() + "' is not known: is its name right?");
        }
        String source = text(hints.sourceAddress(), hints.sourceNode(), hints.sourceService());
        String destination = text(hints.destinationAddress(), hints.destinationNode(), hints.destinationService());
        if (hasSource && hasDestination) {
            return Optional.of("Nothing matches the source address " + source
                    + " together with the destination address " + destination + " with " + providerText
                    + ": is the first an address of this machine, and does it reach the second?");
        }
        return Optional.of("Nothing matches the " + (hasSource ? "source" : "destination") + " address "
                + (hasSource ? source : destination) + " with " + providerText + ": is it an address of "
                + (hasSource ? "this" : "a reachable") + " machine?");
    }

    private static String text(Optional<EndpointAddress> address, Optional<String> node, Optional<String> service) {
        return address.map(EndpointAddress::toString).orElse(node.orElse("*") + ":" + service.orElse("*"));
    }

    private static boolean isNumeric(String node) { return node.contains(":") || node.matches("[0-9.]+"); }

    private static boolean isUnknownHost(String node) {
        try {
            InetAddress.getByName(node);
            return false;
        } catch (UnknownHostException e) {
            return true;
        }
    }

    private String names(Function<FabricInfo, String> name) {
        String names = matches.stream().map(name).filter(Objects::nonNull).distinct().sorted()
                .collect(Collectors.joining(", "));
        return names.isEmpty() ? "none" : names;
    }
}

package io.ofi4j.internal.engine;

import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.internal.quirks.Remedies;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds the hint that nothing matches, by asking for one more at a time. */
public final class MismatchReport {
    private final Function<FabricHints, List<FabricInfo>> find;
    private final Object libfabric;
    private final FabricHints hints;
    private final String who;
    private FabricHints asked = FabricHints.any().threading(ThreadingModel.UNSPECIFIED);
    /** What matched the hints before the last. */
    private List<FabricInfo> there;

    public MismatchReport(Object libfabric, Function<FabricHints, List<FabricInfo>> find, FabricHints hints) {
        this.find = find;
        this.libfabric = libfabric;
        this.hints = hints;
        this.who = hints.provider().map(name -> "provider " + name).orElse("any provider");
        this.there = find.apply(asked);
    }

    public String whyNothingMatches() {
        return Stream
                .<Supplier<Optional<String>>>of(this::provider, this::domain, this::fabric, this::endpointType,
                        this::capabilities, this::operationFlags, this::threading, this::progress, this::attributes,
                        this::address)
                .map(Supplier::get).flatMap(Optional::stream).findFirst().orElseGet(() -> "Nothing matches: " + hints
                        + ". Ask for less, or list what there is with Libfabric.providers().");
    }

    /** Adds a hint; the sentence if nothing matches any more. */
    private Optional<String> ask(FabricHints more, Supplier<String> sentence) {
        asked = more;
        List<FabricInfo> found = find.apply(more);
        if (found.isEmpty()) { return Optional.of(sentence.get()); }
        there = found;
        return Optional.empty();
    }

    private Optional<String> provider() {
        return hints.provider().flatMap(
                name -> ask(asked.provider(name), () -> "No provider '" + name + "' can be used on this machine; "
                        + libfabric + " has " + names(FabricInfo::provider) + "." + Remedies.ofMissing(name)));
    }

    private Optional<String> domain() {
        return hints.domain().flatMap(name -> ask(asked.domain(name), () -> "There is no domain '" + name + "' of "
                + who + "; there is " + names(info -> info.domain().name()) + "."));
    }

    private Optional<String> fabric() {
        return hints.fabric().flatMap(name -> ask(asked.fabric(name), () -> "There is no fabric '" + name + "' of "
                + who + "; there is " + names(info -> info.fabric().name()) + "."));
    }

    private Optional<String> endpointType() {
        return ask(asked.endpointType(hints.endpointType()), () -> "Endpoints of type " + hints.endpointType()
                + " are not offered by " + who + "; there is " + names(info -> info.endpoint().type().name()) + ".");
    }

    private Optional<String> capabilities() {
        return ask(asked.capabilities(hints.capabilities().toArray(Capability[]::new)), this::lackingCapabilities);
    }

    private String lackingCapabilities() {
        Set<Capability> offered = EnumSet.noneOf(Capability.class);
        there.forEach(info -> offered.addAll(info.capabilities()));
        Set<Capability> lacking = EnumSet.noneOf(Capability.class);
        lacking.addAll(hints.capabilities());
        lacking.removeAll(offered);
        return (lacking.isEmpty()
                ? "The capabilities " + hints.capabilities() + " together"
                : "The capabilities " + lacking) + " are not offered by " + who + " with endpoint type "
                + hints.endpointType() + "; it has " + offered + ".";
    }

    private Optional<String> operationFlags() {
        return ask(asked.operationFlags(hints.operationFlags().toArray(OperationFlag[]::new)),
                () -> "Operations that have the flags " + hints.operationFlags() + " by default are not offered by "
                        + who + "; ask for others, or set them on single operations.");
    }

    private Optional<String> threading() {
        return ask(asked.threading(hints.threading()),
                () -> "Threading model " + hints.threading() + " is not offered by " + who + "; ask for another.");
    }

    private Optional<String> progress() {
        return ask(asked.controlProgress(hints.controlProgress()).dataProgress(hints.dataProgress()),
                () -> "Control progress " + hints.controlProgress() + " and data progress " + hints.dataProgress()
                        + " together are not offered by " + who + "; leave one UNSPECIFIED.");
    }

    private Optional<String> attributes() {
        return ask(asked.attributes(hints.attributes()), () -> "The attributes " + hints.attributes()
                + " together are not offered by " + who + "; ask for less.");
    }

    private Optional<String> address() {
        if (hints.node().isEmpty() && hints.service().isEmpty()) { return Optional.empty(); }
        return Optional.of("Nothing matches the " + (hints.isSource() ? "source" : "destination") + " address "
                + hints.node().orElse("*") + ":" + hints.service().orElse("*") + " with " + who
                + ": is it an address of " + (hints.isSource() ? "this" : "a reachable") + " machine?");
    }

    private String names(Function<FabricInfo, String> name) {
        Set<String> names = there.stream().map(name).filter(text -> text != null)
                .collect(Collectors.toCollection(TreeSet::new));
        return names.isEmpty() ? "none" : String.join(", ", names);
    }
}

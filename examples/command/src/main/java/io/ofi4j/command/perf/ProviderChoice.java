package io.ofi4j.command.perf;

import io.ofi4j.Libfabric;
import io.ofi4j.command.CommandFailure;
import io.ofi4j.command.Loopback;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.Limit;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Finds the provider that was asked for, with the fast models where it has them. Providers that have internet addresses
 * use the loopback address, unless the user names an address or a domain.
 */
final class ProviderChoice {
    /** FI_SOCKADDR, FI_SOCKADDR_IN and FI_SOCKADDR_IN6 of fi_getinfo(3). */
    private static final Set<AddressFormat> INTERNET = EnumSet.of(AddressFormat.SOCKADDR, AddressFormat.SOCKADDR_IN,
            AddressFormat.SOCKADDR_IN6);

    private final Libfabric libfabric;
    private final Settings settings;

    ProviderChoice(Libfabric libfabric, Settings settings) {
        this.libfabric = libfabric;
        this.settings = settings;
    }

    /** {@return the first that is there of the models to try; without any, the exception says why} */
    FabricInfo info() {
        for (FabricHints hints : choices()) {
            try {
                return best(hints);
            } catch (NoProviderException e) {
                continue; // the next is less fast, but perhaps there
            }
        }
        FabricInfo there = ofAnyModel();
        throw new CommandFailure("Provider " + there.provider() + " does not offer"
                + settings.threading().map(model -> " threading " + model).orElse("")
                + settings.progress().map(model -> " progress " + model).orElse("")
                + ": leave it out, and the fastest that there is will be used.");
    }

    private FabricHints unmodelled() { return unmodelled(capabilities()); }

    private FabricHints unmodelled(Capability... needed) {
        FabricHints hints = (settings.endpoint() == EndpointType.MSG ? FabricHints.connected() : FabricHints.rma())
                .capabilities(needed).provider(settings.provider()).threading(ThreadingModel.UNSPECIFIED);
        if (settings.operation() == Operation.WRITEDATA) { // some providers have infos with and without such data
            hints = hints.attributes(AttributeHints.none().atLeast(Limit.COMPLETION_DATA_SIZE, Integer.BYTES));
        }
        return settings.domain().map(hints::domain).orElse(hints);
    }

    private FabricInfo ofAnyModel() {
        try {
            return best(unmodelled());
        } catch (NoProviderException e) {
            if (settings.memory().isEmpty()) { throw e; }
            best(unmodelled(settings.operation().capabilities())); // if this is missing too, it says more
            if (takesMemoryOfDevices()) {
                throw new CommandFailure(
                        "Provider " + settings.provider() + " takes no memory of devices (FI_HMEM) for 'perf "
                                + settings.operation() + "': measure another operation, or leave --device out.",
                        e);
            }
            throw new CommandFailure("Provider " + settings.provider() + " takes no memory of devices (FI_HMEM): choose"
                    + " another (-p), such as shm, or leave --device out.", e);
        }
    }

    private boolean takesMemoryOfDevices() {
        try {
            best(unmodelled(Capability.RMA, Capability.HMEM));
            return true;
        } catch (NoProviderException e) {
            return false;
        }
    }

    private Capability[] capabilities() {
        Stream<Capability> needed = Stream.of(settings.operation().capabilities());
        return (settings.memory().isPresent() ? Stream.concat(needed, Stream.of(Capability.HMEM)) : needed)
                .toArray(Capability[]::new);
    }

    private List<FabricHints> choices() {
        FabricHints any = unmodelled();
        List<FabricHints> choices = new ArrayList<>();
        for (ThreadingModel threading : settings.threading().map(List::of).orElse(fastThreading())) {
            for (ProgressModel progress : settings.progress().map(List::of)
                    .orElse(List.of(ProgressModel.MANUAL, ProgressModel.UNSPECIFIED))) {
                choices.add(any.threading(threading).dataProgress(progress).controlProgress(progress));
            }
        }
        return choices;
    }

    private List<ThreadingModel> fastThreading() {
        boolean completion = libfabric.version().major() >= 2 && settings.provider().equals("tcp");
        return List.of(completion ? ThreadingModel.COMPLETION : ThreadingModel.DOMAIN, ThreadingModel.SAFE);
    }

    private FabricInfo best(FabricHints hints) {
        FabricInfo found = first(hints);
        if (!INTERNET.contains(found.addressFormat())) { return found; }
        if (settings.source().isPresent()) { return first(hints.source(settings.source().get(), null)); }
        if (settings.domain().isPresent()) { return found; }
        String host = settings.host().orElse(Loopback.ADDRESS);
        return first(isLoopback(host) ? hints.source(Loopback.ADDRESS, null) : hints.destination(host, null));
    }

    private FabricInfo first(FabricHints hints) { return libfabric.info(hints).getFirst(); }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false; // the connection to it says more
        }
    }
}

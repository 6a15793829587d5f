package io.ofi4j;

import io.ofi4j.info.OperationFlag;
import java.util.stream.Stream;
import java.util.Set;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionOrder;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.info.MessageOrder;
import io.ofi4j.info.Parameter;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.Version;
import io.ofi4j.internal.engine.DataReceiveCount;
import io.ofi4j.internal.engine.FoundInfo;
import io.ofi4j.internal.engine.MismatchReport;
import io.ofi4j.internal.observe.LeakReport;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.ffi.FabricCalls;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.Hints;
import io.ofi4j.internal.ffi.NativeLibrary;
import io.ofi4j.internal.ffi.Opened;
import io.ofi4j.internal.os.SignalGuard;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The libfabric of this process: loaded once, never unloaded. Any thread may call anything here.
 *
 * <p>Loading makes the process safe for the JVM first: libraries that come with libfabric, and some of its providers,
 * replace the signal handlers that HotSpot lives on; here they stay in force. The registration cache's memory monitor is
 * set to {@code disabled} unless the environment variable {@code FI_MR_CACHE_MONITOR} says otherwise.
 *
 * <p>The library is looked for as {@code libfabric.so.1} where the dynamic linker looks, then in a few usual places. The
 * system property {@code io.ofi4j.library} names another file.
 */
public final class Libfabric {
    /** The newest interface that this library was written for. */
    private static final Version NEWEST_API = new Version(2, 1);

    /** What this library does for every provider that demands it. */
    private static final long HANDLED_MODES = FabricConstants.FI_CONTEXT | FabricConstants.FI_CONTEXT2
            | FabricConstants.FI_RX_CQ_DATA;

    private final Version version;

    private Libfabric(Version version) {
        this.version = version;
    }

    /**
     * {@return the library, loaded if it was not}
     *
     * @throws LibfabricNotFoundException if it is nowhere; the message names the places and the package
     * @throws IllegalCallerException if the JVM refuses native access; the message names its option
     */
    public static Libfabric load() {
        loadNative(Map.of());
        Quirks.requireKnownNames();
        return Holder.INSTANCE;
    }

    /**
     * Loads the library with variables of its environment set; Java cannot change them later, since libfabric reads them
     * once. {@link #parameters} lists those there are.
     *
     * @param environment names and values, such as {@code FI_LOG_LEVEL} and {@code warn}; they replace what is set
     * @return the library
     * @throws IllegalStateException if the library was loaded already, so that the variables would be ignored
     * @throws LibfabricNotFoundException if it is nowhere; the message names the places and the package
     * @throws IllegalCallerException if the JVM refuses native access; the message names its option
     */
    public static Libfabric load(Map<String, String> environment) {
        if (!loadNative(Map.copyOf(environment))) {
            throw new IllegalStateException("libfabric is loaded already and has read its environment: call "
                    + "Libfabric.load(environment) before anything else of this library");
        }
        Quirks.requireKnownNames();
        return Holder.INSTANCE;
    }

    private static boolean loadNative(Map<String, String> environment) {
        try {
            return NativeLibrary.load(environment);
        } catch (NativeLibrary.NotFound e) {
            throw new LibfabricNotFoundException(e.getMessage(), e.getCause());
        }
    }

    private static final class Holder {
        static final Libfabric INSTANCE = new Libfabric(Version.of(FabricCalls.fi_version()));
    }

    /** {@return the version of the library that was loaded; fi_version, fi_fabric(3)} */
    public Version version() {
        return version;
    }

    /**
     * {@return what matches the hints, the best first by libfabric's judgement; fi_getinfo(3)}
     *
     * @param hints what is asked for
     * @throws NoProviderException if nothing matches; the message says what there is instead
     * @throws FabricException if libfabric reports another error
     * @throws UnsupportedOperationException if this libfabric is too old for a capability that is asked for
     */
    public List<FabricInfo> info(FabricHints hints) {
        FabricCalls.Found found = find(hints);
        if (found.status() != -Errno.ENODATA) {
            Status.check(found.status(), "fi_getinfo", hints.provider().orElse("(any)"));
        }
        List<FabricInfo> infos = infos(found, hints);
        if (infos.isEmpty()) {
            throw new NoProviderException(new MismatchReport(this, this::infoOrNothing, hints).whyNothingMatches());
        }
        return infos;
    }

    /**
     * {@return what matches the hints, or nothing}
     *
     * @param hints what is asked for
     */
    List<FabricInfo> infoOrNothing(FabricHints hints) {
        return infos(find(hints), hints);
    }

    /** Some providers ignore the names of domain and fabric; a provider named in full comes before those layered on it. */
    private List<FabricInfo> infos(FabricCalls.Found found, FabricHints hints) {
        return found.infos().stream().map(handle -> (FabricInfo) new FoundInfo(handle, version))
                .filter(info -> !DataReceiveCount.isLacking(info)) // the mode is promised for those that get receives
                .filter(info -> hints.domain().isEmpty() || hints.domain().get().equals(info.domain().name()))
                .filter(info -> (bits(hints.operationFlags()) & ~info.transmit().operationFlags()) == 0)
                .filter(info -> hints.fabric().isEmpty() || hints.fabric().get().equals(info.fabric().name()))
                .sorted(Comparator.comparing(info -> !hints.provider().equals(Optional.of(info.provider())))).toList();
    }

    private FabricCalls.Found find(FabricHints hints) {
        long capabilities = 0;
        for (Capability capability : hints.capabilities()) {
            if (!capability.isKnownTo(version)) {
                throw new UnsupportedOperationException(
                        "capability " + capability + " needs libfabric 2.0 or newer; this is " + version + ".");
            }
            capabilities |= capability.bit();
        }
        Hints struct = new Hints().capabilities(capabilities).operationFlags(bits(hints.operationFlags()))
                .mode(HANDLED_MODES).endpointType(hints.endpointType().value()).threading(hints.threading().value())
                .controlProgress(hints.controlProgress().value()).dataProgress(hints.dataProgress().value())
                .memoryRegionMode(handledModes()).domain(hints.domain().orElse(null))
                .fabric(hints.fabric().orElse(null)).provider(hints.provider().orElse(null));
        attributes(struct, hints.attributes());
        boolean addressed = hints.node().isPresent() || hints.service().isPresent();
        return FabricCalls.fi_getinfo(apiVersion().packed(), hints.node().orElse(null), hints.service().orElse(null),
                addressed && hints.isSource() ? FabricConstants.FI_SOURCE : 0, struct.info());
    }

    private static long bits(Set<OperationFlag> flags) {
        return flags.stream().mapToLong(OperationFlag::bit).sum();
    }

    private static int handledModes() {
        return Stream.of(MemoryRegionMode.values()).filter(MemoryRegionMode::isHandled).mapToInt(MemoryRegionMode::bit)
                .sum();
    }

    private static void attributes(Hints struct, AttributeHints asked) {
        long messageOrder = asked.messageOrder().stream().mapToLong(MessageOrder::bit).sum();
        long completionOrder = asked.completionOrder().stream().mapToLong(CompletionOrder::bits).sum();
        struct.addressVectorType(asked.addressVectorType().value())
                .resourceManagement(asked.resourceManagement().value()).trafficClass(asked.trafficClass().value())
                .order(messageOrder, completionOrder).sizes(asked.transmitSize(), asked.receiveSize())
                .injectSize(asked.injectSize());
    }

    private Version apiVersion() {
        return version.compareTo(NEWEST_API) < 0 ? version : NEWEST_API;
    }

    /** {@return the names of the providers that can be used on this machine} */
    public List<String> providers() {
        FabricHints any = FabricHints.any().threading(ThreadingModel.UNSPECIFIED);
        return infoOrNothing(any).stream().map(FabricInfo::provider).distinct().toList();
    }

    /** {@return the environment variables that libfabric and its providers read; fi_getparams, fi_provider(7)} */
    public List<Parameter> parameters() {
        return FabricCalls.fi_getparams().stream().map(one -> new Parameter(one.name(),
                one.help() == null ? "" : one.help(), Optional.ofNullable(one.value()))).toList();
    }

    /**
     * {@return those of the signals SIGILL, SIGBUS, SIGFPE and SIGSEGV whose handler is no longer the one that the JVM had when
     * this library was loaded} The JVM lives on them: where SIGSEGV is another's, the next null check in compiled code ends the
     * process. What libfabric replaces is restored here, so that any that are named are somebody else's.
     */
    public List<String> replacedSignalHandlers() {
        return SignalGuard.replacedHandlers();
    }

    /**
     * Opens a fabric; fi_fabric(3).
     *
     * @param info whose fabric
     * @return the fabric, to be closed by the caller
     * @throws FabricException if the provider refuses
     */
    public Fabric openFabric(FabricInfo info) {
        Opened out = FabricCalls.fi_fabric(FoundInfo.of(info).handle(), info.provider());
        Status.check(out.status(), "fi_fabric", info.provider());
        Fabric fabric = new Fabric(out.handle(), info);
        LeakReport.opened(fabric);
        return fabric;
    }

    @Override
    public String toString() {
        return "libfabric " + version;
    }
}

package io.ofi4j;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.LibfabricNotFoundException;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AttributeHints;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricAttributes;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.Hook;
import io.ofi4j.info.Limit;
import io.ofi4j.info.MemoryRegionMode;
import io.ofi4j.info.OpenObjectsMXBean;
import io.ofi4j.info.OperationFlag;
import io.ofi4j.info.Parameter;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.Version;
import io.ofi4j.internal.engine.AddressFormats;
import io.ofi4j.internal.engine.DataReceiveCount;
import io.ofi4j.internal.engine.MismatchReport;
import io.ofi4j.internal.engine.NativeFabricInfo;
import io.ofi4j.internal.engine.StackRoom;
import io.ofi4j.internal.ffi.Attributes;
import io.ofi4j.internal.ffi.FabricCalls;
import io.ofi4j.internal.ffi.FabricConstants;
import io.ofi4j.internal.ffi.FidOps;
import io.ofi4j.internal.ffi.Hints;
import io.ofi4j.internal.ffi.InfoHandle;
import io.ofi4j.internal.ffi.NativeLibrary;
import io.ofi4j.internal.ffi.OpenResult;
import io.ofi4j.internal.observe.EventRecorder;
import io.ofi4j.internal.observe.LeakReport;
import io.ofi4j.internal.os.Errno;
import io.ofi4j.internal.os.SignalGuard;
import io.ofi4j.internal.quirks.Quirks;
import io.ofi4j.internal.quirks.Status;
import io.ofi4j.internal.quirks.TestedVersions;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The libfabric of this process: loaded once, never unloaded. Any thread may call any method. Methods throw
 * FabricException if libfabric reports an error.
 *
 * <p>Loading first makes the process safe for the JVM. Some providers, and libraries that libfabric loads, replace
 * signal handlers that HotSpot needs; ofi4j restores HotSpot's handlers. It sets the memory monitor of libfabric's
 * registration cache to {@code disabled} unless the environment variable {@code FI_MR_CACHE_MONITOR} is set.
 *
 * <p>The dynamic linker searches for {@code libfabric.so.1}. If it finds none, a few usual places are tried. The system
 * property {@code io.ofi4j.library} names another file.
 */
public final class Libfabric {
    /** The newest interface that ofi4j was written for. */
    private static final Version NEWEST_API = new Version(2, 1);

    /** The mode bits that ofi4j meets for every provider. */
    private static final long HANDLED_MODES = FabricConstants.FI_CONTEXT | FabricConstants.FI_CONTEXT2
            | FabricConstants.FI_RX_CQ_DATA;

    /** What a provider grants only to those who ask; other bits say more of them, or are granted unasked. */
    private static final long PRIMARY_CAPABILITIES = Hints
            .bits(Set.of(Capability.MSG, Capability.RMA, Capability.TAGGED, Capability.ATOMIC), Capability::bit);

    private final Version version;

    private Libfabric(Version version) { this.version = version; }

    /**
     * {@return the library, loaded on the first call}
     *
     * @throws LibfabricNotFoundException if it is not found, or older than {@link #oldestVersion()}; the message names
     *         the searched places and the package to install, or the version that was found
     * @throws IllegalCallerException if the JVM refuses native access; the message names the option to set
     */
    public static Libfabric load() {
        loadNative(Map.of());
        Quirks.requireKnownNames();
        return Holder.INSTANCE;
    }

    /**
     * As {@link #load()}, but sets environment variables first. libfabric reads them once, so they cannot be changed
     * later. {@link #parameters} lists them.
     *
     * @param environment names and values, such as {@code FI_LOG_LEVEL} and {@code warn}; they replace those that are
     *         set
     * @throws IllegalArgumentException if a name is empty or has a {@code =}, or a name or a value has a NUL
     * @throws IllegalStateException if the library is loaded already, so that the variables would be ignored
     */
    public static Libfabric load(Map<String, String> environment) {
        environment.forEach(Libfabric::requireVariable);
        if (!loadNative(Map.copyOf(environment))) {
            throw new IllegalStateException("libfabric is loaded already and has read its environment: call "
                    + "Libfabric.load(environment) before any other method of ofi4j");
        }
        Quirks.requireKnownNames();
        return Holder.INSTANCE;
    }

    /**
     * As {@link #load()}, but with hooking providers between the program and every provider; FI_HOOK, fi_hook(7). They
     * write to libfabric's log: set {@code FI_LOG_LEVEL} in the environment. libfabric ignores hooks that it was built
     * without.
     *
     * @param hooks the hooks; the first is the closest to the provider
     * @throws IllegalStateException if the library is loaded already
     */
    public static Libfabric load(List<Hook> hooks) { return load(NativeLibrary.hooked(hooks)); }

    /** setenv(3) refuses such names, and would end a name or a value at its NUL. */
    private static void requireVariable(String name, String value) {
        if (name.isEmpty() || name.indexOf('=') >= 0 || name.indexOf('\0') >= 0 || value.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(
                    "an environment variable has a name without '=', and no NUL in name or value: "
                            + (name + "=" + value).replace('\0', '?'));
        }
    }

    private static boolean loadNative(Map<String, String> environment) {
        try {
            return NativeLibrary.load(environment);
        } catch (NativeLibrary.NotFound e) {
            throw new LibfabricNotFoundException(e.getMessage(), e.tooOld(), e.getCause());
        }
    }

    private static final class Holder {
        static {
            try { // the first failure may come where a stack ends
                MethodHandles.lookup().ensureInitialized(FabricException.class);
                MethodHandles.lookup().ensureInitialized(EventRecorder.class);
            } catch (IllegalAccessException e) {
                throw new AssertionError(e);
            }
        }

        static final Libfabric INSTANCE = new Libfabric(Version.of(FabricCalls.fi_version()));
    }

    /**
     * {@return the versions of libfabric that the tests of ofi4j have run on, the oldest first} With other versions
     * ofi4j relies on what their source says, and calls may be slower. Loads nothing.
     */
    public static SortedSet<Version> testedVersions() {
        return Collections.unmodifiableSortedSet(new TreeSet<>(TestedVersions.ALL));
    }

    /** {@return the oldest version of libfabric that ofi4j takes} Loads nothing. */
    public static Version oldestVersion() {
        return NativeLibrary.OLDEST;
    }

    /** {@return the version of the loaded library; fi_version, fi_fabric(3)} */
    public Version version() {
        return version;
    }

    /**
     * {@return the infos that match the hints, libfabric's preference first; fi_getinfo(3)}
     *
     * @throws NoProviderException if nothing matches; the message names what is available instead
     * @throws UnsupportedOperationException if this libfabric is too old for a requested capability
     * @throws IllegalArgumentException if an address of the hints is longer or shorter than its format
     */
    public List<FabricInfo> info(FabricHints hints) {
        FabricCalls.Found found = find(hints, HANDLED_MODES, handledModes(hints));
        if (found.status() != -Errno.ENODATA) {
            Status.check(found.status(), "fi_getinfo", hints.provider().orElse("(any)"));
        }
        List<FabricInfo> infos = withDeviceMemory(infos(found, hints), hints);
        if (infos.isEmpty()) {
            throw new NoProviderException(
                    new MismatchReport(this, this::infoOrNothing, this::isPrefixed, hints).explanation());
        }
        return infos;
    }

    /** {@return the infos that match the hints, possibly none} */
    List<FabricInfo> infoOrNothing(FabricHints hints) {
        return withDeviceMemory(infos(find(hints, HANDLED_MODES, handledModes(hints)), hints), hints);
    }

    /**
     * Adds the providers that fi_getinfo of some versions leaves out if the hints have neither capabilities nor the
     * mode of device memory.
     */
    private List<FabricInfo> withDeviceMemory(List<FabricInfo> infos, FabricHints hints) {
        if (!hints.capabilities().isEmpty() || !Quirks.hideWithoutDeviceMemory(version)) { return infos; }
        List<String> known = infos.stream().map(FabricInfo::provider).toList();
        FabricCalls.Found found = find(hints, HANDLED_MODES, handledModes(hints) | MemoryRegionMode.HMEM.bit());
        return Stream
                .concat(infos.stream(), infos(found, hints).stream().filter(info -> !known.contains(info.provider())))
                .toList();
    }

    private boolean isPrefixed(FabricHints hints) {
        return !infos(find(hints, HANDLED_MODES | FabricConstants.FI_MSG_PREFIX, handledModes(hints)), hints).isEmpty();
    }

    /**
     * Leaves out what does not satisfy the hints: some providers ignore names, or answer every call as the first. A
     * provider named in full comes before those layered on it.
     */
    private List<FabricInfo> infos(FabricCalls.Found found, FabricHints hints) {
        return found.infos().stream().map(handle -> (FabricInfo) new NativeFabricInfo(handle, version))
                // FI_RX_CQ_DATA holds only for endpoints with receives
                .filter(info -> !DataReceiveCount.isUnsupported(info))
                .filter(info -> hints.endpointType() == EndpointType.UNSPECIFIED
                        || hints.endpointType() == info.endpoint().type())
                .filter(info -> (Hints.bits(hints.capabilities(), Capability::bit) & PRIMARY_CAPABILITIES
                        & ~info.capabilityBits()) == 0)
                .filter(info -> hints.domain().isEmpty() || hints.domain().get().equals(info.domain().name()))
                .filter(info -> info.transmit().operationFlags().containsAll(hints.operationFlags()))
                .filter(info -> info.domain().completionDataSize() >= hints.attributes()
                        .limit(Limit.COMPLETION_DATA_SIZE))
                .filter(info -> hints.fabric().isEmpty() || hints.fabric().get().equals(info.fabric().name()))
                .sorted(Comparator.comparing(info -> !hints.provider().equals(Optional.of(info.provider())))).toList();
    }

    private FabricCalls.Found find(FabricHints hints, long modes, int memoryRegionModes) {
        AttributeHints attributes = hints.attributes();
        for (Capability capability : Stream
                .of(hints.capabilities(), attributes.transmitCapabilities(), attributes.receiveCapabilities())
                .flatMap(Set::stream).toList()) {
            if (!capability.isKnownTo(version)) {
                throw new UnsupportedOperationException(
                        "capability " + capability + " needs libfabric 2.0 or newer; this is " + version + ".");
            }
        }
        if (hints.isRescan() && !FabricCalls.supportsRescan()) {
            throw new UnsupportedOperationException(
                    "FabricHints.rescan needs libfabric 2.2 or newer; this is " + version + ".");
        }
        AddressFormats.require(hints);
        InfoHandle its = Hints.of(hints, modes, memoryRegionModes);
        boolean hasSource = hints.sourceNode().isPresent() || hints.sourceService().isPresent();
        if (hints.destinationNode().isEmpty()) {
            return hasSource ? findSource(hints, its) : getInfo(hints, Optional.empty(), Optional.empty(), 0, its);
        }
        return hasSource ? findBoth(hints, its) : findDestination(hints, its);
    }

    private FabricCalls.Found findSource(FabricHints hints, InfoHandle its) {
        return getInfo(hints, hints.sourceNode(), hints.sourceService(), FabricConstants.FI_SOURCE, its);
    }

    private FabricCalls.Found findDestination(FabricHints hints, InfoHandle its) {
        return getInfo(hints, hints.destinationNode(), hints.destinationService(), 0, its);
    }

    /** fi_getinfo looks up one of two addresses: the source is looked up before, and then a hint. */
    private FabricCalls.Found findBoth(FabricHints hints, InfoHandle its) {
        FabricCalls.Found sources = findSource(hints, its);
        List<InfoHandle> infos = new ArrayList<>();
        int status = sources.infos().isEmpty() ? sources.status() : -Errno.ENODATA;
        Set<EndpointAddress> tried = new HashSet<>();
        for (InfoHandle one : sources.infos()) {
            byte[] source = one.sourceAddress();
            if (source.length == 0 || !tried.add(EndpointAddress.of(source))) { continue; }
            FabricCalls.Found found = findDestination(hints, its.withSource(source, one.addressFormat()));
            infos.addAll(found.infos());
            status = infos.isEmpty() ? found.status() : 0;
        }
        return new FabricCalls.Found(status, infos);
    }

    private FabricCalls.Found getInfo(FabricHints hints, Optional<String> node, Optional<String> service, long flags,
            InfoHandle its) {
        long options = (hints.isNumericHost() && node.isPresent() ? FabricConstants.FI_NUMERICHOST : 0)
                | (hints.isRescan() ? FabricConstants.FI_RESCAN : 0);
        return FabricCalls.fi_getinfo(apiVersion().packed(), node.orElse(null), service.orElse(null), flags | options,
                its);
    }

    /** Includes HMEM only if the hints ask for it: it may make transfers of other memory slower. */
    private static int handledModes(FabricHints hints) {
        return Stream.of(MemoryRegionMode.values()).filter(MemoryRegionMode::isHandled)
                .filter(mode -> mode != MemoryRegionMode.HMEM || hints.capabilities().contains(Capability.HMEM))
                .mapToInt(MemoryRegionMode::bit).sum();
    }

    private Version apiVersion() { return version.compareTo(NEWEST_API) < 0 ? version : NEWEST_API; }

    /** {@return the names of the providers that this machine can use} */
    public List<String> providers() {
        FabricHints any = FabricHints.any().threading(ThreadingModel.UNSPECIFIED);
        return infoOrNothing(any).stream().map(FabricInfo::provider).distinct().toList();
    }

    /**
     * {@return the providers that this libfabric was built with or loads from files, whether this machine can use them
     * or not; FI_PROV_ATTR_ONLY, fi_getinfo(3)} The attributes have no name of a fabric.
     */
    public List<FabricAttributes> installedProviders() {
        FabricCalls.Found found = FabricCalls.fi_getinfo(apiVersion().packed(), null, null,
                FabricConstants.FI_PROV_ATTR_ONLY,
                Hints.of(FabricHints.any().threading(ThreadingModel.UNSPECIFIED), 0, 0));
        Status.check(found.status(), "fi_getinfo", "(any)");
        return found.infos().stream().map(Attributes::fabric).distinct().toList();
    }

    /** {@return the environment variables that libfabric and its providers read; fi_getparams, fi_provider(7)} */
    public List<Parameter> parameters() {
        return FabricCalls.fi_getparams();
    }

    /**
     * {@return the signals among SIGILL, SIGBUS, SIGFPE and SIGSEGV whose handler is no longer the JVM's} The JVM needs
     * these handlers: with another handler for SIGSEGV, the next null check in compiled code ends the process. ofi4j
     * restores those that libfabric replaces; other native code has replaced those named here.
     */
    public List<String> replacedSignalHandlers() { return SignalGuard.replacedHandlers(); }

    /**
     * Opens the fabric of an info; fi_fabric(3). The caller closes it; that of {@link Scope#openFabric} is closed by
     * the scope.
     *
     * @throws IllegalArgumentException if the info is not one that this class has returned
     */
    public Fabric openFabric(FabricInfo info) {
        StackRoom.require();
        OpenResult out = FabricCalls.fi_fabric(NativeFabricInfo.of(info).handle(), info.provider());
        Status.check(out.status(), "fi_fabric", info.provider());
        Fabric fabric = out.adopt(opened -> new Fabric(opened, info), FidOps::fi_close);
        LeakReport.opened(fabric);
        OpenObjects.opened(fabric, this);
        return fabric;
    }

    /**
     * Registers the bean {@link OpenObjectsMXBean} with the JVM's own MBean server, now if a fabric is open, and
     * whenever one is opened later, and starts that server if it does not run. That takes a quarter of a second of a
     * processor and 4 MB, once. The system property {@code io.ofi4j.jmx=true} does the same. Without either, ofi4j
     * starts no server, and registers the bean if the server runs when a fabric is opened. Any thread may call this.
     *
     * @return false if there can be no server: the runtime lacks the module {@code java.management}, or memory or
     *         descriptors are short
     */
    public boolean showOpenObjects() { return OpenObjects.showAlways(this); }

    /** Opens a scope, which closes everything that is opened in it. The caller closes the scope. */
    public Scope openScope() {
        return new Scope(this);
    }

    @Override
    public String toString() { return "libfabric " + version; }
}

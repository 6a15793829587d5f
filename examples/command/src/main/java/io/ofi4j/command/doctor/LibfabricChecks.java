package io.ofi4j.command.doctor;

import io.ofi4j.Libfabric;
import io.ofi4j.errors.LibfabricNotFoundException;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.command.Library;
import io.ofi4j.command.NativeAccess;
import io.ofi4j.info.Capability;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.Parameter;
import io.ofi4j.info.ThreadingModel;
import io.ofi4j.info.Version;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** What libfabric is and offers here. */
final class LibfabricChecks {
    private static final Set<String> OF_DEVICES = Set.of("verbs", "efa", "cxi", "opx", "psm", "psm2", "psm3", "usnic",
            "ucx", "mlx", "gni");

    private LibfabricChecks() {}

    static List<Finding> all() {
        Optional<Finding> unusable = unusable();
        if (unusable.isPresent()) { return List.of(unusable.get()); }
        Libfabric libfabric = Libfabric.load();
        List<Finding> findings = new ArrayList<>();
        findings.add(version(libfabric.version()));
        findings.add(providers(libfabric));
        findings.add(devices(libfabric));
        findings.add(signalHandlers(libfabric));
        findings.add(cacheMonitor(libfabric));
        findings.add(QuirkChecks.summary(libfabric, infos(libfabric, FabricHints.any())));
        return findings;
    }

    /** The quirks of all providers, each with a finding; none where libfabric cannot be loaded. */
    static List<Finding> quirks() {
        if (unusable().isPresent()) { return List.of(); }
        Libfabric libfabric = Libfabric.load();
        return QuirkChecks.all(libfabric, infos(libfabric, FabricHints.any()));
    }

    /**
     * What each provider does, by trials; none where libfabric cannot be loaded.
     *
     * @param before takes the name of each provider before it is tried
     */
    static List<Finding> deep(Consumer<String> before) {
        if (unusable().isPresent()) { return List.of(); }
        Libfabric libfabric = Libfabric.load();
        return DeepChecks.all(libfabric, infos(libfabric, FabricHints.any()), before);
    }

    /** What keeps the library from being loaded, or nothing. */
    private static Optional<Finding> unusable() {
        try {
            Libfabric.load();
            return Optional.empty();
        } catch (LibfabricNotFoundException e) {
            return Optional.of(Finding.problem("libfabric",
                    e.tooOld().map(version -> version + ", which is too old").orElse("not found"),
                    Library.advice(e.getMessage())));
        } catch (IllegalCallerException e) {
            return Optional.of(Finding.problem("libfabric", "not loaded: the JVM refuses native access",
                    "start java with " + NativeAccess.OPTION));
        }
    }

    static Finding version(Version version) {
        String found = version.toString();
        if (Libfabric.testedVersions().contains(version)) { return Finding.ok("libfabric", found); }
        return Finding.hint("libfabric", found + ", on which ofi4j was not tested",
                "it relies on libfabric's source there; tested versions are "
                        + Libfabric.testedVersions().stream().map(Version::toString).collect(Collectors.joining(", ")));
    }

    private static Finding providers(Libfabric libfabric) {
        List<FabricInfo> infos = infos(libfabric, FabricHints.any().capabilities(Capability.RMA));
        if (infos.isEmpty()) {
            return Finding.problem("providers", "none of " + libfabric.providers() + " offers RMA",
                    "install a libfabric with the shm and tcp providers, as Debian's libfabric1 is");
        }
        return Finding.ok("providers",
                "RMA over " + infos.stream().map(FabricInfo::provider).distinct().collect(Collectors.joining(", ")));
    }

    private static Finding devices(Libfabric libfabric) {
        List<String> devices = infos(libfabric, FabricHints.any()).stream().filter(LibfabricChecks::isDevice)
                .map(info -> info.provider() + " on " + info.domain().name()).distinct().toList();
        return devices.isEmpty()
                ? Finding.hint("devices", "no RDMA device that libfabric can use",
                        "if there is an adapter, install rdma-core and ibverbs-providers and see 'ibv_devices'; the "
                                + "software providers work without")
                : Finding.ok("devices", String.join(", ", devices));
    }

    static boolean hasDevice() {
        return unusable().isEmpty()
                && infos(Libfabric.load(), FabricHints.any()).stream().anyMatch(LibfabricChecks::isDevice);
    }

    /** {@return why no other process' memory can be read, or nothing} */
    static Optional<String> tryCrossMemory() {
        try {
            return CrossMemory.refusal();
        } catch (IllegalCallerException e) {
            return Optional.of("the JVM refuses native access, so that it was not tried");
        }
    }

    private static boolean isDevice(FabricInfo info) {
        return OF_DEVICES.contains(info.provider().replaceFirst(";.*", ""));
    }

    private static List<FabricInfo> infos(Libfabric libfabric, FabricHints hints) {
        try {
            return libfabric.info(hints.threading(ThreadingModel.UNSPECIFIED));
        } catch (NoProviderException e) {
            return List.of();
        }
    }

    private static Finding signalHandlers(Libfabric libfabric) {
        List<String> replaced = libfabric.replacedSignalHandlers();
        return replaced.isEmpty()
                ? Finding.ok("signal handlers", "the JVM's own, libfabric loaded")
                : Finding.problem("signal handlers",
                        String.join(", ", replaced) + " have other handlers than the JVM's",
                        "find the library that installs them (LD_PRELOAD?), or preload the JDK's libjsig.so");
    }

    private static Finding cacheMonitor(Libfabric libfabric) {
        String name = "FI_MR_CACHE_MONITOR";
        String value = libfabric.parameters().stream().filter(parameter -> parameter.name().equals(name)).findFirst()
                .flatMap(Parameter::value).orElse("libfabric's default");
        return value.equals("disabled") || value.equals("userfaultfd")
                ? Finding.ok("registration cache", name + " is " + value)
                : Finding.problem("registration cache", name + " is " + value + ": it patches mmap under the JVM",
                        "unset it, or set it to disabled");
    }
}

package io.ofi4j.command.verify;

import io.ofi4j.Libfabric;
import io.ofi4j.command.Release;
import io.ofi4j.conformance.Subject;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.NetworkDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What a report says of the machine, the software and the device. */
final class Machine {
    /** A shorter one is a part of other words. */
    private static final int SHORTEST_NAME = 3;
    private static final Path PROCESSOR = Path.of("/proc/cpuinfo");
    /** How kernels of different machines call the model. */
    private static final List<String> MODEL = List.of("model name", "Model", "CPU part");

    private static final String HOST = "/proc/sys/kernel/hostname";
    /** Also with a port; {@code fi_shm://} is what shm calls its own. */
    private static final Pattern ADDRESS = Pattern
            .compile("fi_\\w+://[^\\s'\")]+|\\b\\d{1,3}(?:\\.\\d{1,3}){3}(?::\\d+)?\\b"
                    + "|\\[?\\b\\p{XDigit}{1,4}(?::\\p{XDigit}{0,4}){2,7}(?:%\\w+)?(?:]:\\d+)?");
    /** From the root on; what the kernel shows of itself is the same everywhere. */
    private static final Pattern FILE = Pattern
            .compile("(?<![\\w./>])/(?!(?:proc|sys)/)[^\\s:;,'\"()|/]+/[^\\s:;,'\"()|]*");

    private Machine() {}

    /** {@return a text in which neither host, user, address nor file is named} */
    static String withoutNames(String text) {
        String named = ADDRESS.matcher(FILE.matcher(text).replaceAll("<file>")).replaceAll("<address>");
        String withoutHost = text(HOST).map(host -> withoutName(named, host, "<host>")).orElse(named);
        return withoutName(withoutHost, System.getProperty("user.name"), "<user>");
    }

    /** A user such as root is a word of other sentences, too, and names nobody. */
    private static String withoutName(String text, String name, String instead) {
        return name.length() < SHORTEST_NAME || name.equals("root") || name.equals("localhost")
                ? text
                : text.replaceAll("\\b" + Pattern.quote(name) + "\\b", instead);
    }

    /**
     * With a provider, by what it is.
     *
     * @param withNames whether with the names of host, user, files and addresses
     */
    static Map<String, String> describe(Libfabric libfabric, SubjectChoice choice, boolean withNames) {
        Map<String, String> facts = new LinkedHashMap<>();
        Subject subject = choice.subject;
        FabricInfo info = choice.info;
        putSoftware(facts, libfabric);
        facts.put("provider", subject.provider());
        facts.put("provider version", info.fabric().providerVersion().toString());
        facts.put("endpoints", subject.type().name());
        facts.put("protocol", info.protocolName());
        facts.put("capabilities", String.join(" ", info.capabilities().stream().map(Enum::name).toList()));
        info.device().ifPresent(device -> putDevice(facts, device, withNames));
        putMachine(facts, withNames);
        if (withNames) {
            facts.put("domain", info.domain().name());
            facts.put("fabric", info.fabric().name());
            subject.source().ifPresent(address -> facts.put("address", address));
        }
        return facts;
    }

    /** With a device that has memory, of which this is known. */
    static Map<String, String> describe(Libfabric libfabric, Map<String, String> device, boolean withNames) {
        Map<String, String> facts = new LinkedHashMap<>();
        putSoftware(facts, libfabric);
        facts.putAll(device);
        putMachine(facts, withNames);
        return facts;
    }

    private static void putSoftware(Map<String, String> facts, Libfabric libfabric) {
        facts.put("ofi4j", Release.VERSION);
        facts.put("libfabric", libfabric.version().toString());
    }

    private static void putMachine(Map<String, String> facts, boolean withNames) {
        facts.put("machine", System.getProperty("os.arch") + ", " + processor() + ", "
                + Runtime.getRuntime().availableProcessors() + " processors");
        text("/proc/loadavg").ifPresent(load -> facts.put("load", load.split(" ")[0]));
        facts.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        distribution().ifPresent(name -> facts.put("system", name));
        facts.put("Java", Runtime.version() + ", " + System.getProperty("java.vendor"));
        facts.put("time", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        if (withNames) {
            text(HOST).ifPresent(name -> facts.put("host", name));
            facts.put("user", System.getProperty("user.name"));
            Optional.ofNullable(System.getProperty("io.ofi4j.library")).ifPresent(file -> facts.put("library", file));
        }
    }

    private static void putDevice(Map<String, String> facts, NetworkDevice card, boolean withNames) {
        card.device().ifPresent(device -> {
            String kind = join(device.driver(), device.vendor(), device.id(), device.version());
            if (!kind.isBlank()) { facts.put("device", kind); } // some providers know nothing of theirs
            if (!device.firmware().isBlank()) { facts.put("firmware", device.firmware()); }
            if (withNames) { facts.put("device name", device.name()); }
        });
        card.link().filter(link -> link.speed() > 0).ifPresent(link -> facts.put("link",
                join(link.networkType(), link.speed() / 1_000_000 + " Mbit/s", "MTU " + link.mtu())));
    }

    private static String join(String... parts) {
        return String.join(", ", Stream.of(parts).filter(part -> !part.isBlank()).toList());
    }

    private static String processor() {
        String all = text(PROCESSOR.toString()).orElse("");
        return MODEL.stream()
                .flatMap(name -> all.lines().filter(line -> line.startsWith(name)).limit(1)
                        .map(line -> line.substring(line.indexOf(':') + 1).strip()))
                .findFirst().orElse("processor unknown");
    }

    private static Optional<String> distribution() {
        return text("/etc/os-release").flatMap(all -> all.lines().filter(line -> line.startsWith("PRETTY_NAME="))
                .map(line -> line.substring(line.indexOf('=') + 1).replace("\"", "")).findFirst());
    }

    private static Optional<String> text(String file) {
        try {
            return Optional.of(Files.readString(Path.of(file)).strip());
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}

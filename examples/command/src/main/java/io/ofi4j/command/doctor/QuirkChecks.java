package io.ofi4j.command.doctor;

import io.ofi4j.Libfabric;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ProviderQuirk;
import io.ofi4j.info.Version;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Which behaviours of this machine's providers the library works around, and why. */
final class QuirkChecks {
    private static final String SWITCHED_OFF = "the system property io.ofi4j.quirks switches ";

    private QuirkChecks() {}

    /** How many there are. */
    static Finding summary(Libfabric libfabric, Collection<FabricInfo> infos) {
        Set<ProviderQuirk> quirks = providers(infos).keySet();
        return summary(quirks, libfabric.version());
    }

    static Finding summary(Collection<ProviderQuirk> quirks, Version version) {
        long on = quirks.stream().filter(ProviderQuirk::isOn).count();
        long switchedOff = quirks.stream().filter(quirk -> isSwitchedOff(quirk, version)).count();
        String found = on + " on for libfabric " + version + "; ofi4j doctor -v lists them";
        return switchedOff == 0
                ? Finding.ok("quirks", found)
                : Finding.hint("quirks", found, SWITCHED_OFF + switchedOff + " off");
    }

    /** Each of them. */
    static List<Finding> all(Libfabric libfabric, Collection<FabricInfo> infos) {
        return providers(infos).entrySet().stream()
                .map(entry -> finding(entry.getKey(), String.join(", ", entry.getValue()), libfabric.version()))
                .toList();
    }

    private static Map<ProviderQuirk, Set<String>> providers(Collection<FabricInfo> infos) {
        Map<ProviderQuirk, Set<String>> providers = new LinkedHashMap<>();
        for (FabricInfo info : infos) {
            for (ProviderQuirk quirk : info.quirks()) {
                providers.computeIfAbsent(quirk, key -> new LinkedHashSet<>()).add(info.provider());
            }
        }
        return providers;
    }

    static Finding finding(ProviderQuirk quirk, String providers, Version version) {
        String subject = "quirk " + quirk.name();
        String found = (quirk.isOn() ? "on" : "off") + " for " + providers + " (" + quirk.versions()
                + (quirk.versions().isGuess() ? ", a guess" : "") + "): " + quirk.upstream();
        return isSwitchedOff(quirk, version)
                ? Finding.hint(subject, found, SWITCHED_OFF + "it off")
                : Finding.ok(subject, found);
    }

    private static boolean isSwitchedOff(ProviderQuirk quirk, Version version) {
        return !quirk.isOn() && quirk.versions().contains(version);
    }
}

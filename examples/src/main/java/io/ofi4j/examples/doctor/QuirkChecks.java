package io.ofi4j.examples.doctor;

import io.ofi4j.Libfabric;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ProviderQuirk;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Which behaviours of this machine's providers the library works around, and why. */
final class QuirkChecks {
    private QuirkChecks() {}

    static List<Finding> of(Libfabric libfabric, Collection<FabricInfo> infos) {
        Map<ProviderQuirk, Set<String>> providers = new LinkedHashMap<>();
        for (FabricInfo info : infos) {
            for (ProviderQuirk quirk : info.quirks()) {
                providers.computeIfAbsent(quirk, key -> new LinkedHashSet<>()).add(info.provider());
            }
        }
        List<Finding> findings = new ArrayList<>();
        providers.forEach((quirk, names) -> findings.add(finding(libfabric, quirk, String.join(", ", names))));
        return findings;
    }

    private static Finding finding(Libfabric libfabric, ProviderQuirk quirk, String providers) {
        String subject = "quirk " + quirk.name();
        if (quirk.isOn()) { return Finding.ok(subject, "on for " + providers + ": " + quirk.upstream()); }
        String versions = quirk.versions().stream().sorted().map(Object::toString).collect(Collectors.joining(", "));
        return quirk.versions().contains(libfabric.version())
                ? Finding.hint(subject, "off for " + providers + ": " + quirk.upstream(),
                        "the system property io.ofi4j.quirks switches it off")
                : Finding.ok(subject, "off for " + providers + ": it is known of libfabric " + versions);
    }
}

package io.ofi4j.command.doctor;

import io.ofi4j.Libfabric;
import io.ofi4j.command.verify.ShortRun;
import io.ofi4j.command.verify.ShortRun.Verdict;
import io.ofi4j.conformance.Result;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** What each provider of this machine does, by trials. */
final class DeepChecks {
    /** Of what is wrong with one provider, the first so many are named. */
    private static final int MAX_NAMED = 3;

    private DeepChecks() {}

    /** A provider with one type of endpoint, as 'ofi4j verify' takes it. */
    private record Choice(String provider, EndpointType type) {
        String label() { return type == EndpointType.RDM ? provider : provider + " " + type; }

        String command() {
            String name = provider.contains(";") ? "'" + provider + "'" : provider;
            return "ofi4j verify -p " + name + (type == EndpointType.RDM ? "" : " -e " + type);
        }
    }

    /** @param before takes the name of each provider before it is tried */
    static List<Finding> all(Libfabric libfabric, Collection<FabricInfo> infos, Consumer<String> before) {
        List<Finding> findings = new ArrayList<>();
        for (Choice choice : infos.stream().map(info -> new Choice(info.provider(), info.endpoint().type())).distinct()
                .toList()) {
            before.accept(choice.label());
            findings.add(finding(choice, ShortRun.of(libfabric, choice.provider, choice.type)));
        }
        return findings;
    }

    private static Finding finding(Choice choice, Verdict verdict) {
        if (verdict.obstacle().isPresent()) {
            return Finding.hint(choice.label(), "not tried: " + verdict.obstacle().get(),
                    "'" + choice.command() + "' tries it when this is mended");
        }
        return finding(choice.label(), choice.command(), verdict);
    }

    static Finding finding(String label, String command, Verdict verdict) {
        List<Result> wrongs = verdict.wrongs();
        if (wrongs.isEmpty()) {
            return verdict.isEnough()
                    ? Finding.ok(label, verdict.counts())
                    : Finding.hint(label, verdict.counts(), "'" + command + "' has more time, and says more");
        }
        String named = wrongs.stream().limit(MAX_NAMED)
                .map(result -> result.name() + " (" + result.outcome() + ": " + result.text() + ")")
                .collect(Collectors.joining("; "));
        String more = wrongs.size() > MAX_NAMED ? "; and " + (wrongs.size() - MAX_NAMED) + " more" : "";
        return Finding.problem(label, named + more, "'" + command + " --report verify.md' says more, for an issue");
    }
}

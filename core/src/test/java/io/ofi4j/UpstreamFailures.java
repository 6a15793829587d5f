package io.ofi4j;

import java.util.List;
import java.util.Optional;

/** What a provider claims and does not do, by our own trials: the reasons that stand below the table of calls. */
final class UpstreamFailures {
    private record Failure(String call, String column, List<String> versions, String reason) {
    }

    private static final List<Failure> ALL = List.of();

    private UpstreamFailures() {
    }

    static Optional<String> of(String call, CallColumn column, String version) {
        return ALL.stream().filter(failure -> call.startsWith(failure.call) && column.label().equals(failure.column)
                && failure.versions.contains(version)).map(Failure::reason).findFirst();
    }
}

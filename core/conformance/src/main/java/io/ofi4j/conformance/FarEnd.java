package io.ofi4j.conformance;

import io.ofi4j.Access;
import io.ofi4j.RemoteRegion;
import io.ofi4j.info.EndpointAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The end of a {@link Pair} that is reached: an endpoint with its queue in another process, which makes progress there
 * by itself. While this end waits for an answer, the near one makes progress.
 */
public final class FarEnd {
    /** The line with which a far half closes everything and ends its process. */
    public static final String END = "end";

    private static final Duration LOOK = Duration.ofMillis(1);
    private static final HexFormat HEX = HexFormat.of();

    /** What was fetched of its completions, in their order. */
    public final List<End.Done> done = new ArrayList<>();
    /** What was fetched of its errors, in their order. */
    public final List<Failure> errors = new ArrayList<>();
    /** What was fetched of what was seen of watched memory. */
    public final List<Seen> seen = new ArrayList<>();

    private final FarProcess process;
    private final Duration deadline;
    private final Runnable progress;

    /** An operation that failed. */
    public record Failure(long token, int errno, String text) {}

    /** The first place where watched memory was wrong when a number came; -1 if it was right. */
    public record Seen(long number, long mismatch) {}

    /** Its process has ended, or does not answer; it is not given back, and ends. */
    private boolean isLost;

    FarEnd(FarProcess process, Duration deadline, Runnable progress) {
        this.process = process;
        this.deadline = deadline;
        this.progress = progress;
    }

    /** {@return its process} */
    public FarProcess process() { return process; }

    String ask(FarQuestion question, long... numbers) {
        return ask(question, LongStream.of(numbers).mapToObj(Long::toString).collect(Collectors.joining(" ")));
    }

    String ask(FarQuestion question, String rest) {
        process.say(question + " " + rest);
        String[] answer = line(question).split(" ", 3);
        if (answer[0].equals(FarHalf.FAILED)) {
            String text = "at the far end: " + answer[2];
            if (answer[1].equals(FarHalf.UNSUPPORTED)) { throw new UnsupportedOperationException(text); }
            throw new Wrong(text);
        }
        return String.join(" ", List.of(answer).subList(1, answer.length));
    }

    private String line(FarQuestion question) {
        Duration limit = deadline.multipliedBy(2); // it may wait for its own deadline
        long start = System.nanoTime();
        try {
            while (System.nanoTime() - start < limit.toNanos()) {
                progress.run();
                Optional<String> line = next();
                if (line.isPresent()) { return line.get(); }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        isLost = true;
        throw new Absent("the answer of the far end to " + question, limit);
    }

    /** Empty if none has come yet. */
    private Optional<String> next() throws InterruptedException {
        try {
            Optional<String> line = process.line(LOOK);
            isLost |= line.isEmpty();
            if (isLost) { throw new FarEnded(process.ending()); }
            return line;
        } catch (TimeoutException e) {
            return Optional.empty();
        }
    }

    EndpointAddress open(String options) {
        return EndpointAddress.decode(HEX.parseHex(ask(FarQuestion.OPEN, options)));
    }

    void accept() { ask(FarQuestion.ACCEPT); }

    /** Closes all, and gives its process back. */
    void close() {
        if (isLost || process.ended(Duration.ZERO)) { return; }
        ask(FarQuestion.CLOSE);
        process.release();
    }

    /** {@return memory that it allocates} */
    public FarRegion allocate(long length, Access... access) {
        String names = Stream.of(access).map(Enum::name).collect(Collectors.joining(" "));
        String[] words = ask(FarQuestion.ALLOCATE, length + " " + names).split(" ");
        RemoteRegion remote = words.length == 1 ? null : RemoteRegion.decode(HEX.parseHex(words[1]));
        return new FarRegion(this, Long.parseLong(words[0]), remote);
    }

    /** Receives a message. */
    public void receive(FarRegion region, long offset, long length, long token) {
        receive(region, offset, length, token, 1);
    }

    /** Receives so many messages into memory side by side, with successive tokens. */
    public void receive(FarRegion region, long offset, long length, long token, int count) {
        ask(FarQuestion.RECEIVE, region.number, offset, length, token, count);
    }

    /** Receives so many messages into memory side by side, with successive tokens and tags. */
    public void receiveTagged(FarRegion region, long offset, long length, long token, int count, long tag) {
        ask(FarQuestion.RECEIVE_TAGGED, region.number, offset, length, token, count, tag);
    }

    /** From now on looks at the first bytes of a region whenever a write with data comes: see {@link #seen}. */
    public void watch(FarRegion region, long length) {
        ask(FarQuestion.WATCH, region.number, length);
    }

    /** From now on looks at the first bytes of a region whenever the number in another changes. */
    public void watch(FarRegion flag, FarRegion region, long length) {
        ask(FarQuestion.WATCH_FLAG, flag.number, region.number, length);
    }

    /** Adds 1 so often to a number of the near end, where nobody else does. It answers when all are done. */
    public void sum(FarRegion results, RemoteRegion target, EndpointAddress near, long count) {
        ask(FarQuestion.SUMS, results.number + " " + HEX.formatHex(target.encode()) + " " + HEX.formatHex(near.encode())
                + " " + count);
    }

    /** Closes the endpoint alone. */
    public void closeEndpoint() { ask(FarQuestion.CLOSE_ENDPOINT); }

    /** Takes what has completed there. */
    public void fetch() {
        for (String entry : ask(FarQuestion.FETCH).split(";")) {
            String[] words = entry.split(",");
            switch (words[0]) {
                case FarHalf.COMPLETION -> done.add(new End.Done(number(words, 1), number(words, 2), number(words, 3),
                        number(words, 4), number(words, 5), number(words, 6)));
                case FarHalf.ERROR -> errors.add(new Failure(number(words, 1), Integer.parseInt(words[2]), words[3]));
                case FarHalf.SEEN -> seen.add(new Seen(number(words, 1), number(words, 2)));
                default -> {
                } // nothing has completed
            }
        }
    }

    private static long number(String[] words, int place) { return Long.parseLong(words[place]); }

    /** {@return how many operations have completed, well or not, as far as they were fetched} */
    public int count() {
        return done.size() + errors.size();
    }

    /** {@return the tokens of what has completed, as far as it was fetched} */
    public List<Long> tokens() {
        return done.stream().map(End.Done::token).toList();
    }
}

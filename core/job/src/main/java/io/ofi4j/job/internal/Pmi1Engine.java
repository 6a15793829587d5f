package io.ofi4j.job.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/**
 * A job whose ranks PMI-1 connects, by Hydra's mpiexec and {@code srun --mpi=pmi2}: lines of text, each with one
 * answer.
 *
 * <p>A gathering puts keys into the key-value space, which all ranks see after a barrier, and never before. A value
 * that is put is published as a name, which all ranks can look up at once. Both are cut into pieces that fit into a
 * line, in Base64, because a space ends a value. The first piece begins with the number of pieces.
 *
 * <p>A launcher answers one line at a time. While a thread waits in a barrier, others wait for their turn.
 */
public final class Pmi1Engine implements JobEngine {
    private static final String SUCCESS = "0";
    /** A line has at most 1024 bytes with every launcher that was tried, whatever it says. */
    private static final int MAX_LINE = 1024;
    /** The longest of the words around a name and a value, in requests and answers. */
    private static final int WORDS_LENGTH = 56;
    private static final int MIN_PIECE_LENGTH = 64;
    private static final int DIGEST_LENGTH = 16;
    /** The longest suffix for the number of a piece. */
    private static final int SUFFIX_LENGTH = 8;
    /** One wait for an answer, between two turns of progress. */
    private static final Duration POLL = Duration.ofMillis(50);
    /** The time for answers that wait for no rank, beyond the deadline: without its answer a line breaks the job. */
    private static final Duration ANSWER_TIME = Duration.ofSeconds(2);
    private static final Duration ABORT_TIME = Duration.ofSeconds(1);

    private final Pmi1Lines lines;
    private final int rank;
    private final int size;
    private final String space;
    private final int pieceLength;
    private final ReentrantLock turn = new ReentrantLock(true);
    private long gatherings;
    /** Why no line can be sent any more: an answer is missing. */
    private volatile LauncherException broken;

    private Pmi1Engine(Pmi1Lines lines, int rank, int size, Deadline deadline) {
        this.lines = lines;
        this.rank = rank;
        this.size = size;
        Wait wait = new Wait(deadline, null);
        query("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", wait);
        int longest = number(query("cmd=get_maxes", "maxes", wait), "vallen_max");
        this.space = query("cmd=get_my_kvsname", "my_kvsname", wait).getOrDefault("kvsname", "");
        int around = WORDS_LENGTH + space.length() + 2 * DIGEST_LENGTH + SUFFIX_LENGTH;
        this.pieceLength = Math.min(longest, MAX_LINE) - around;
        if (pieceLength < MIN_PIECE_LENGTH) {
            throw new LauncherException("the launcher's values have at most " + longest + " characters, and "
                    + (around + MIN_PIECE_LENGTH) + " are needed: start the job with another launcher");
        }
    }

    public static Pmi1Engine join(Pmi1Lines lines, int rank, int size, Deadline deadline) {
        return new Pmi1Engine(lines, rank, size, deadline);
    }

    private static int number(Map<String, String> answer, String name) {
        String value = answer.getOrDefault(name, "");
        if (!value.matches("\\d{1,9}")) {
            throw new LauncherException("the launcher gave '" + value + "' as " + name + ", which is no number");
        }
        return Integer.parseInt(value);
    }

    @Override
    public String name() { return "PMI-1"; }

    @Override
    public int rank() { return rank; }

    @Override
    public int size() { return size; }

    /** The first piece goes last: whoever finds it, finds all. */
    @Override
    public void put(String name, byte[] value, Deadline deadline) {
        String service = service(rank, name);
        List<String> pieces = pieces(value);
        Wait wait = new Wait(deadline, null);
        for (int i = pieces.size() - 1; i >= 0; i--) {
            String line = "cmd=publish_name service=" + service + "." + i + " port=" + pieces.get(i);
            Map<String, String> answer = ask(line, "publish_result", wait);
            if (!answer.getOrDefault("rc", SUCCESS).equals(SUCCESS)
                    || !answer.getOrDefault("info", "ok").equals("ok")) {
                throw new LauncherException("the launcher answered '" + answer + "' to publish_name: it publishes no"
                        + " values of single ranks. Use Job.gather, which all ranks call");
            }
        }
    }

    @Override
    public byte[] get(int owner, String name, Wait wait) {
        String service = service(owner, name);
        byte[] value = wait.lookUntilFound(_ -> {
            Wait answers = new Wait(wait.deadline().atLeast(ANSWER_TIME), wait.progress());
            return join((piece, same) -> ask("cmd=lookup_name service=" + service + "." + piece, "lookup_result", same)
                    .get("port"), answers);
        });
        if (value == null) { throw LauncherException.noValue(owner, wait.deadline()); }
        return value;
    }

    /** The name of a value among those of all jobs of this launcher: of characters and a length that all take. */
    private String service(int owner, String name) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest((owner + "/" + name).getBytes(UTF_8));
            return space + "-" + HexFormat.of().formatHex(digest, 0, DIGEST_LENGTH);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e); // every JDK has it
        }
    }

    private List<String> pieces(byte[] value) {
        String text = Base64.getUrlEncoder().withoutPadding().encodeToString(value);
        int room = pieceLength - SUFFIX_LENGTH; // for the number of pieces in the first one
        int count = Math.max(1, Math.ceilDiv(text.length(), room));
        List<String> pieces = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String piece = text.substring(i * room, Math.min((i + 1) * room, text.length()));
            pieces.add(i == 0 ? count + "." + piece : piece);
        }
        return pieces;
    }

    /** {@return the value of these pieces, or null if one is not there} */
    private static byte[] join(BiFunction<Integer, Wait, String> piece, Wait wait) {
        String first = piece.apply(0, wait);
        if (first == null || !first.matches("[1-9]\\d{0,5}[.].*")) { return null; }
        int dot = first.indexOf('.');
        StringBuilder text = new StringBuilder(first.substring(dot + 1));
        for (int i = 1; i < Integer.parseInt(first.substring(0, dot)); i++) {
            String next = piece.apply(i, wait);
            if (next == null) { return null; }
            text.append(next);
        }
        return Base64.getUrlDecoder().decode(text.toString());
    }

    @Override
    public void barrier(Wait wait) { query("cmd=barrier_in", "barrier_out", wait); }

    @Override
    public List<byte[]> gather(byte[] value, Wait wait) {
        String key = "ofi4j-" + gatherings++ + "-";
        List<String> pieces = pieces(value);
        for (int i = 0; i < pieces.size(); i++) {
            query("cmd=put kvsname=" + space + " key=" + key + rank + "." + i + " value=" + pieces.get(i), "put_result",
                    wait);
        }
        barrier(wait);
        List<byte[]> values = new ArrayList<>();
        for (int other = 0; other < size; other++) {
            int owner = other;
            byte[] its = other == rank ? value.clone() : join((piece, same) -> {
                Map<String, String> answer = ask("cmd=get kvsname=" + space + " key=" + key + owner + "." + piece,
                        "get_result", same);
                return answer.getOrDefault("rc", SUCCESS).equals(SUCCESS) ? answer.get("value") : null;
            }, wait);
            if (its == null) {
                broken = new LauncherException(List.of(owner),
                        "did not come, though the barrier of the launcher ended");
                throw broken;
            }
            values.add(its);
        }
        return values;
    }

    /** PMI-1 does not tell of ranks that are lost: the launcher ends the job, or the deadline passes. */
    @Override
    public LauncherException lost() { return broken; }

    @Override
    public void leave(Deadline deadline, String why) {
        if (broken != null) { return; } // the launcher sees that the process ends without it
        query("cmd=finalize", "finalize_ack", new Wait(deadline, null));
    }

    @Override
    public void abort(int code, String why) {
        boolean isMine = takeTurn(Deadline.in(ABORT_TIME)); // a line while another thread waits is read nevertheless
        try {
            lines.send("cmd=abort exitcode=" + code);
        } finally {
            if (isMine) { turn.unlock(); }
        }
    }

    private Map<String, String> query(String line, String answer, Wait wait) {
        Map<String, String> words = ask(line, answer, wait);
        if (!words.getOrDefault("rc", SUCCESS).equals(SUCCESS)) {
            throw new LauncherException("the launcher answered '" + words + "' to '" + line.split(" ")[0]
                    + "' over PMI_FD: did every rank start?");
        }
        return words;
    }

    /** Sends a line, and waits for its answer, which may say that there is nothing. */
    private Map<String, String> ask(String line, String command, Wait wait) {
        if (!takeTurn(wait.deadline())) {
            throw new LauncherException("another thread waited for the launcher (PMI_FD) for " + wait.deadline());
        }
        try {
            if (broken != null) { throw broken; }
            lines.send(line);
            String answer = receive(line, wait);
            Map<String, String> words = Arrays.stream(answer.split(" +")).filter(word -> word.contains("="))
                    .map(word -> word.split("=", 2))
                    .collect(Collectors.toMap(word -> word[0], word -> word[1], (a, b) -> a));
            if (!command.equals(words.get("cmd"))) {
                throw new LauncherException("the launcher answered '" + answer + "' to '" + line.split(" ")[0]
                        + "' over PMI_FD: did every rank start?");
            }
            return words;
        } finally {
            turn.unlock();
        }
    }

    private boolean takeTurn(Deadline deadline) {
        try {
            return turn.tryLock(deadline.nanosLeft(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LauncherException("the wait was interrupted", e);
        }
    }

    private String receive(String line, Wait wait) {
        try {
            for (int turns = 0;; turns = turns + 1 & Integer.MAX_VALUE) {
                int millis = wait.progress() != null ? 0 : wait.deadline().atMost(POLL).millisLeft();
                String answer = lines.receive(millis);
                if (answer != null) { return answer; }
                if (wait.deadline().isOver()) {
                    throw new LauncherException("the launcher did not answer '" + line.split(" ")[0] + "' within "
                            + wait.deadline() + ": a rank has not come, or has gone" + LauncherException.LONGER);
                }
                wait.turn(turns);
            }
        } catch (RuntimeException | Error e) { // the answer to this line would be taken for that to the next
            broken = e instanceof LauncherException failure
                    ? failure
                    : new LauncherException("a call was interrupted: " + e.getMessage(), e);
            throw e;
        }
    }
}

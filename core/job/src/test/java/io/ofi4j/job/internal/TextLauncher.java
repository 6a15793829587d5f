package io.ofi4j.job.internal;

import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;

/** A launcher of PMI-1 in this process: its keys are seen after a barrier, and a line has 1,024 characters at most. */
public final class TextLauncher {
    private static final int MAX_LINE = 1024;

    private final int size;
    private final Map<Integer, Queue<String>> answers = new HashMap<>();
    private final Map<String, String> put = new HashMap<>();
    private final Map<String, String> seen = new HashMap<>();
    private final Map<String, String> names = new HashMap<>();
    private final Set<String> ignored = ConcurrentHashMap.newKeySet();
    private int came;

    public TextLauncher(int size) {
        this.size = size;
        IntStream.range(0, size).forEach(rank -> answers.put(rank, new ConcurrentLinkedQueue<>()));
    }

    public int size() { return size; }

    /** Answers no more lines of this command. */
    public void ignore(String command) { ignored.add(command); }

    /** {@return the keys that were put} */
    synchronized int keys() { return put.size(); }

    public Pmi1Lines lines(int rank) {
        return new Pmi1Lines() {
            @Override
            public void send(String line) { handle(rank, line); }

            @Override
            public String receive(int millis) {
                String answer = answers.get(rank).poll();
                if (answer == null && millis > 0) { Thread.onSpinWait(); }
                return answer;
            }
        };
    }

    private synchronized void handle(int rank, String line) {
        if (line.length() >= MAX_LINE) { throw new AssertionError("a line of " + line.length() + " characters"); }
        Map<String, String> words = new HashMap<>();
        for (String word : line.split(" ")) {
            words.put(word.substring(0, word.indexOf('=')), word.substring(word.indexOf('=') + 1));
        }
        String command = words.get("cmd");
        if (!ignored.contains(command)) { answer(rank, command, words); }
    }

    private void answer(int rank, String command, Map<String, String> words) {
        Queue<String> to = answers.get(rank);
        switch (command) {
            case "init" -> to.add("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
            case "get_maxes" -> to.add("cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024");
            case "get_my_kvsname" -> to.add("cmd=my_kvsname kvsname=space");
            case "put" -> {
                if (put.put(words.get("key"), words.get("value")) != null) { throw new AssertionError("a key again"); }
                to.add("cmd=put_result rc=0 msg=success");
            }
            case "get" -> {
                String value = seen.get(words.get("key"));
                to.add("cmd=get_result rc=" + (value == null ? "-1 msg=not_found value=unknown" : "0 value=" + value));
            }
            case "publish_name" -> {
                names.put(words.get("service"), words.get("port"));
                to.add("cmd=publish_result info=ok rc=0");
            }
            case "lookup_name" -> {
                String port = names.get(words.get("service"));
                to.add("cmd=lookup_result " + (port == null ? "rc=1 msg=not_found" : "info=ok rc=0 port=" + port));
            }
            case "barrier_in" -> {
                came++;
                if (came % size == 0) {
                    seen.putAll(put);
                    answers.values().forEach(each -> each.add("cmd=barrier_out"));
                }
            }
            case "finalize" -> to.add("cmd=finalize_ack");
            default -> throw new AssertionError(command);
        }
    }
}

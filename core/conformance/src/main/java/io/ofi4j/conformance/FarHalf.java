package io.ofi4j.conformance;

import io.ofi4j.Access;
import io.ofi4j.AddressVector;
import io.ofi4j.CompletionError;
import io.ofi4j.CompletionQueue;
import io.ofi4j.ConnectionRequest;
import io.ofi4j.Domain;
import io.ofi4j.Endpoint;
import io.ofi4j.Event;
import io.ofi4j.EventQueue;
import io.ofi4j.Fabric;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.PassiveEndpoint;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Waiting;
import io.ofi4j.errors.NoProviderException;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Capability;
import io.ofi4j.info.CompletionFormat;
import io.ofi4j.info.CompletionQueueAttributes;
import io.ofi4j.info.Datatype;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.StringJoiner;
import java.util.stream.Stream;

/**
 * The far half of a {@link Pair}: does what lines ask for, and answers each with one. It takes {@link FarQuestion}s
 * alone, so that whoever asks can do no more than the trials do.
 */
public final class FarHalf implements AutoCloseable {
    /** What an answer begins with. */
    static final String DONE = "done";
    static final String FAILED = "failed";
    /** How an answer says why it failed. */
    static final String UNSUPPORTED = "unsupported";
    static final String WRONG = "wrong";
    /** What entries of a FETCH begin with. */
    static final String COMPLETION = "c";
    static final String ERROR = "e";
    static final String SEEN = "s";

    /** An answer has to fit into a frame of a connection. */
    private static final int MAX_ENTRIES = 40;
    private static final int MAX_TEXT = 100;
    private static final long MAX_LENGTH = 64 << 20;
    private static final HexFormat HEX = HexFormat.of();

    private final Subject subject;
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final List<Seen> seen = new ArrayList<>();
    private Fabric fabric;
    private Domain domain;
    private FabricInfo info;
    private EventQueue events;
    private PassiveEndpoint passive;
    private AddressVector vector;
    private Endpoint endpoint;
    private End end;
    private MemoryRegion watched;
    private long watchedLength;
    private MemoryRegion flag;
    private long lastFlag;
    /** How many of the completions were looked at for what is watched. */
    private int looked;

    /** What memory was like when a number came. */
    record Seen(long number, long mismatch) {}

    /** What answers for a subject. */
    public FarHalf(Subject subject) { this.subject = subject; }

    /** {@return whether anything is open, and progress is to be made} */
    public boolean isOpen() {
        return fabric != null;
    }

    /** Makes progress. */
    public void poll() {
        if (events != null) { events.progress(); }
        if (end == null) { return; }
        if (flag != null) { lookAtFlag(); }
        end.poll();
        for (; watched != null && flag == null && looked < end.done.size(); looked++) {
            End.Done done = end.done.get(looked);
            if (done.isRemoteData()) { see(done.data()); }
        }
    }

    private void lookAtFlag() {
        long value = flag.getLongAcquire(0);
        if (value != lastFlag) { see(value); }
        lastFlag = value;
    }

    private void see(long number) {
        seen.add(new Seen(number, Pattern.mismatch(watched.segment().asSlice(0, watchedLength), number)));
    }

    /** {@return the answer to a line} */
    public String answer(String line) {
        try {
            String[] words = line.split(" ");
            String answer = answer(FarQuestion.valueOf(words[0]), words);
            return answer.isEmpty() ? DONE : DONE + " " + answer;
        } catch (UnsupportedOperationException | NoProviderException e) {
            return failed(UNSUPPORTED, String.valueOf(e.getMessage()));
        } catch (Wrong e) {
            return failed(WRONG, e.getMessage());
        } catch (RuntimeException | Error e) { // whatever came of it is the answer
            return failed(WRONG, e.toString());
        }
    }

    private static String failed(String how, String text) {
        return FAILED + " " + how + " " + text.replaceAll("\\s+", " ");
    }

    private String answer(FarQuestion question, String[] words) {
        switch (question) {
            case OPEN -> {
                return open(words);
            }
            case ACCEPT -> accept();
            case ALLOCATE -> {
                return allocate(words);
            }
            case FILL -> Pattern.fill(memory(words), number(words, 4));
            case MISMATCH -> {
                MemorySegment memory = memory(words);
                long at = Pattern.mismatch(memory, number(words, 4));
                return at < 0 ? "-1" : at + " " + memory.get(ValueLayout.JAVA_BYTE, at);
            }
            case BYTE -> {
                return Byte.toString(region(words, 1).segment().get(ValueLayout.JAVA_BYTE, number(words, 2)));
            }
            case RECEIVE -> {
                for (long i = 0; i < number(words, 5); i++) {
                    endpoint.messages().receive(slice(words, i), number(words, 4) + i);
                }
            }
            case RECEIVE_TAGGED -> {
                for (long i = 0; i < number(words, 5); i++) {
                    endpoint.tagged().receive(slice(words, i), number(words, 6) + i, 0, number(words, 4) + i);
                }
            }
            case WATCH -> watch(null, region(words, 1), number(words, 2));
            case WATCH_FLAG -> watch(region(words, 1), region(words, 2), number(words, 3));
            case FETCH -> {
                return fetch();
            }
            case SUMS -> sum(words);
            case CLOSE_REGION -> region(words, 1).close();
            case CLOSE_ENDPOINT -> endpoint.close();
            case CLOSE -> close();
            default -> throw new AssertionError(question);
        }
        return "";
    }

    private static long number(String[] words, int place) { return Long.parseLong(words[place]); }

    private MemoryRegion region(String[] words, int place) { return regions.get(Integer.parseInt(words[place])); }

    /** One of several that lie side by side. */
    private MemoryRegion.Slice slice(String[] words, long which) {
        return region(words, 1).slice(number(words, 2) + which * number(words, 3), number(words, 3));
    }

    private MemorySegment memory(String[] words) {
        return region(words, 1).segment().asSlice(number(words, 2), number(words, 3));
    }

    private String open(String[] words) {
        Capability[] capabilities = Stream.of(words).skip(2).map(Capability::valueOf).toArray(Capability[]::new);
        info = Subject.info(capabilities.length == 0 ? subject.hints() : subject.hints(capabilities));
        fabric = Libfabric.load().openFabric(info);
        domain = fabric.openDomain();
        CompletionFormat format = CompletionFormat.valueOf(words[1]);
        CompletionQueue queue = domain.openCompletionQueue(CompletionQueueAttributes.defaults().format(format));
        end = End.of(queue);
        if (info.endpoint().type() == EndpointType.MSG) {
            events = fabric.openEventQueue();
            passive = fabric.openPassiveEndpoint(info).bind(events).listen();
            return HEX.formatHex(passive.address().encode());
        }
        vector = domain.openAddressVector();
        endpoint = domain.openEndpoint().bind(vector).bind(queue).enable().postTimeout(subject.deadline());
        return HEX.formatHex(endpoint.address().encode());
    }

    private void accept() {
        if (!(events.read(subject.deadline()) instanceof Event.ConnectionRequested(ConnectionRequest request))) {
            throw new Wrong("the first event of a passive endpoint is no request for a connection");
        }
        endpoint = domain.openEndpoint(request).bind(events).bind(end.queue).enable().postTimeout(subject.deadline());
        endpoint.connection().accept(subject.deadline());
    }

    private String allocate(String[] words) {
        long length = number(words, 1);
        if (length > MAX_LENGTH) { throw new Untried("a far half has regions of " + MAX_LENGTH + " bytes at most"); }
        Access[] access = Stream.of(words).skip(2).map(Access::valueOf).toArray(Access[]::new);
        regions.add(domain.allocate(length, access));
        int last = regions.size() - 1;
        boolean isRemote = Stream.of(access).anyMatch(one -> one == Access.REMOTE_READ || one == Access.REMOTE_WRITE);
        return isRemote ? last + " " + HEX.formatHex(regions.getLast().remote().encode()) : Integer.toString(last);
    }

    private void watch(MemoryRegion number, MemoryRegion region, long length) {
        flag = number;
        lastFlag = 0;
        watched = region;
        watchedLength = length;
    }

    private String fetch() {
        StringJoiner entries = new StringJoiner(";");
        int count = 0;
        for (; count < MAX_ENTRIES && !end.done.isEmpty(); count++) {
            if (looked > 0) { looked--; }
            End.Done done = end.done.removeFirst();
            entries.add(String.join(",", COMPLETION, Long.toString(done.token()), Long.toString(done.flags()),
                    Long.toString(done.length()), Long.toString(done.data()), Long.toString(done.tag()),
                    Long.toString(done.source())));
        }
        for (; count < MAX_ENTRIES && !end.errors.isEmpty(); count++) {
            CompletionError error = end.errors.removeFirst();
            String text = error.text().replaceAll("[,;\\s]+", " ");
            entries.add(String.join(",", ERROR, Long.toString(error.token()), Integer.toString(error.errno()),
                    text.substring(0, Math.min(text.length(), MAX_TEXT))));
        }
        for (; count < MAX_ENTRIES && !seen.isEmpty(); count++) {
            Seen one = seen.removeFirst();
            entries.add(String.join(",", SEEN, Long.toString(one.number), Long.toString(one.mismatch)));
        }
        return entries.toString();
    }

    /** Each fetches the sum before its own, as long as nobody else adds there. */
    private void sum(String[] words) {
        MemoryRegion here = region(words, 1);
        RemoteRegion there = RemoteRegion.decode(HEX.parseHex(words[2]));
        Peer peer = vector == null
                ? endpoint.connection().peer()
                : vector.insert(EndpointAddress.decode(HEX.parseHex(words[3])));
        long count = number(words, 4);
        here.segment().set(ValueLayout.JAVA_LONG, 0, 1);
        for (long round = 0; round < count; round++) {
            int before = end.count();
            endpoint.atomics().fetch(AtomicOperation.SUM, Datatype.INT64, here.slice(0, Long.BYTES),
                    here.slice(Long.BYTES, Long.BYTES), peer, there, round);
            Waiting.YIELD.until(() -> {
                poll();
                return end.count() > before;
            }, subject.deadline());
            Check.none("the errors of sums at the far end", end.errors);
            Check.equal("the sum that the far end fetches", here.segment().get(ValueLayout.JAVA_LONG, Long.BYTES),
                    round);
        }
        end.done.clear();
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>();
        all.add(endpoint);
        all.addAll(regions);
        all.add(vector);
        all.add(passive);
        all.add(events);
        all.add(end == null ? null : end.queue);
        all.add(domain);
        all.add(fabric);
        regions.clear();
        seen.clear();
        endpoint = null;
        vector = null;
        passive = null;
        events = null;
        end = null;
        domain = null;
        fabric = null;
        watched = null;
        flag = null;
        looked = 0;
        for (AutoCloseable one : all) {
            try {
                if (one != null) { one.close(); }
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e); // objects of ofi4j throw none
            }
        }
    }
}

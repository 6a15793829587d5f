package io.ofi4j.conformance.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Libfabric;
import io.ofi4j.conformance.Outcome;
import io.ofi4j.conformance.Result;
import io.ofi4j.conformance.Subject;
import io.ofi4j.conformance.calls.Columns;
import io.ofi4j.conformance.rules.RuleTrials;
import io.ofi4j.info.EndpointAddress;
import io.ofi4j.info.EndpointType;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import io.ofi4j.support.Patience;
import io.ofi4j.support.ProviderFault;
import io.ofi4j.support.ShmFile;
import io.ofi4j.support.TestProviders;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A run of trials says what is so, and finds what is wrong. */
@Tag("gate")
@Timeout(900)
class TrialRunTest {
    private static final String NO_QUIRKS = "-Dio.ofi4j.quirks=none";
    private static final String COMPLETIONS = "rules of fi_cq(3)";
    private static final String CORNERS = "rules of corner cases";
    private static final String MESSAGES = "rules of fi_msg(3)";
    private static final String TOKENS = "every token comes back once, with the bytes";
    private static final String PAUSE = "a message comes without a pause";
    private static final String UNTAKEN = "endpoints close with messages that nobody took";
    private static final int NOBODYS_PORT = 1;
    private static final Path FAULTY = Path.of("src/test/c/faulty_libfabric.c").toAbsolutePath();

    /** Trials that run without quirks need names that no process has left. */
    @BeforeEach
    void removeAbandonedFiles() { ShmFile.removeAbandoned(); }

    private static Subject subject(String provider) {
        return new Subject(provider, EndpointType.RDM,
                provider.equals("shm") ? Optional.empty() : Optional.of(TestProviders.address(provider)),
                Patience.seconds(10));
    }

    /** The options of a JVM that starts faster than with this one's class path. */
    private static List<String> options(List<String> properties) {
        return Stream.of(Forked.classes(), properties).flatMap(List::stream).toList();
    }

    private static List<Result> run(Subject subject, List<String> properties, String... pages) {
        List<Result> results = new ArrayList<>();
        new TrialRun(subject, options(properties), Pair.DEADLINE.multipliedBy(10), () -> false, results::add)
                .run(List.of(pages));
        return results;
    }

    private static Result runOne(Subject subject, List<String> properties, String page, String name) {
        List<Result> results = new ArrayList<>();
        new TrialRun(subject, options(properties), Pair.DEADLINE.multipliedBy(10), () -> false, results::add).run(page,
                List.of(name));
        return result(results, name);
    }

    private static Result result(List<Result> results, String name) {
        return results.stream().filter(one -> one.name().equals(name)).findFirst().orElseThrow();
    }

    /** The columns of the table of calls have providers of other versions, too. */
    static Stream<Subject> subjects() {
        List<String> offered = Libfabric.load().providers();
        return Columns.here().filter(subject -> !subject.isOfDatagrams() && offered.contains(subject.provider()))
                .map(subject -> subject.within(Patience.seconds(10)));
    }

    /** What most programs use over a network. */
    static Stream<Subject> usualNetworks() {
        return subjects().filter(TrialRunTest::isUsualNetwork);
    }

    static Stream<Subject> otherSubjects() {
        return subjects().filter(subject -> !isUsualNetwork(subject) && !subject.provider().equals("shm"));
    }

    private static boolean isUsualNetwork(Subject subject) {
        return subject.type() == EndpointType.RDM && List.of("tcp;ofi_rxm", "net", "tcp").contains(subject.provider());
    }

    @Test
    void noRuleIsBrokenOverSharedMemory() { requireNothingWrong(subject("shm")); }

    @ParameterizedTest
    @MethodSource("usualNetworks")
    @Tag("nightly")
    void noRuleIsBrokenOverNetworks(Subject subject) { requireNothingWrong(subject); }

    @ParameterizedTest
    @MethodSource("otherSubjects")
    @Tag("long") // a flush over sockets once took longer than ten seconds
    void noRuleIsBrokenOverOtherProviders(Subject subject) { requireNothingWrong(subject); }

    private static void requireNothingWrong(Subject subject) {
        String[] pages = RuleTrials.BY_PAGE.keySet().stream().filter(page -> !page.equals(RuleTrials.LONG))
                .toArray(String[]::new);

        List<Result> results = run(subject, List.of(), pages);

        assertThat(results).isNotEmpty().allSatisfy(one -> assertThat(one.outcome().isWrong()).isFalse());
        assertThat(result(results, TOKENS).outcome()).isEqualTo(Outcome.WORKS);
    }

    /** A libfabric that is linked to the real one, and changes what it gives. */
    @ParameterizedTest
    @CsvSource({"DROP, came 31", "FLIP, of the target of writes: came", "TWICE, twice"})
    void aFaultOfTheProviderIsFound(String fault, String says, @TempDir Path folder) throws Exception {
        Result tokens = runOne(subject("tcp;ofi_rxm").within(Patience.seconds(2)),
                List.of("-Dio.ofi4j.library=" + faulty(folder, fault)), COMPLETIONS, TOKENS);

        assertThat(tokens.outcome()).as(tokens.text()).isEqualTo(Outcome.WRONG);
        assertThat(tokens.text()).contains(says);
    }

    /** One poll in five thousand sleeps for 300 ms. */
    @Test
    void aProviderThatAnswersLateIsFound(@TempDir Path folder) throws Exception {
        Result pause = runOne(subject("tcp;ofi_rxm"), List.of("-Dio.ofi4j.library=" + faulty(folder, "LATE")),
                COMPLETIONS, PAUSE);

        assertThat(pause.outcome()).as(pause.text()).isEqualTo(Outcome.WRONG);
        assertThat(pause.text())
                .containsPattern("in each of 3 rounds: came more than [1-9]\\d\\d ms, expected less than 100 ms$");
    }

    /** As ucx and lnx; that of event queues cannot be taken away from others. */
    @ParameterizedTest
    @CsvSource({"rules of corner cases, a wait for nothing lets the processor rest",
            "fi_cq(3), 'fi_trywait, fi_control: GETWAIT'"})
    void aQueueWithoutTryWaitIsWaitedFor(String page, String name, @TempDir Path folder) throws Exception {
        Result waits = runOne(subject("tcp;ofi_rxm"), List.of("-Dio.ofi4j.library=" + faulty(folder, "NOTRYWAIT")),
                page, name);

        assertThat(waits.outcome()).as(waits.text()).isEqualTo(Outcome.WORKS);
    }

    private static Path faulty(Path folder, String fault) throws IOException, InterruptedException {
        Path library = folder.resolve("libfabric.so.1");
        String real = System.getProperty("io.ofi4j.library", "-l:libfabric.so.1");
        Process compiler = new ProcessBuilder("cc", "-shared", "-fPIC", "-D" + fault, "-o", library.toString(),
                FAULTY.toString(), "-ldl", "-Wl,--no-as-needed", real).inheritIO().start();
        assertThat(compiler.waitFor(Pair.DEADLINE.toSeconds(), TimeUnit.SECONDS)).as("the compiler ended").isTrue();
        assertThat(compiler.exitValue()).isZero();
        return library;
    }

    @Test
    void whatEndsTheProcessIsARowAndTheNextOnesAreTried() {
        boolean inReceives = ProviderFault.RECEIVE_OPTIONS_NEED_ENABLE.isOf("shm");
        String fatal = inReceives ? "fi_recvmsg, MULTI_RECV" : UNTAKEN;

        List<Result> results = run(subject("shm"), List.of(NO_QUIRKS), inReceives ? "fi_msg(3)" : MESSAGES);

        assertThat(result(results, fatal).outcome()).isEqualTo(Outcome.ENDED);
        assertThat(result(results, fatal).text()).startsWith("SIGSEGV in ");
        assertThat(results).filteredOn(one -> one.outcome() == Outcome.WORKS).hasSizeGreaterThan(4);
        assertThat(results.getLast().outcome()).isEqualTo(inReceives ? Outcome.WORKS : Outcome.ENDED);
    }

    /** The far half gets a signal before it is asked for memory for the first trial. */
    private static FarHost hostOfOneThat(String signal, Subject subject) {
        boolean[] isDone = new boolean[1];
        return (properties, lines) -> {
            FarHost.Line line = FarRunner.here(subject).open(properties, lines);
            return new FarHost.Line() {
                @Override
                public void accept(String text) {
                    if (!isDone[0] && text.startsWith("say ALLOCATE")) {
                        isDone[0] = true;
                        line.accept("signal " + signal);
                    }
                    line.accept(text);
                }

                @Override
                public void close() { line.close(); }
            };
        };
    }

    @ParameterizedTest
    @CsvSource({"KILL, UNTRIED, signal 9", "STOP, HUNG, came nothing within"})
    void aFarHalfThatEndsOrHangsIsARowAndTheNextOnesAreTried(String signal, Outcome outcome, String says) {
        Subject subject = subject("tcp;ofi_rxm").within(Patience.seconds(2));
        List<Result> results = new ArrayList<>();

        new TrialRun(subject, Forked.classes(), Pair.DEADLINE.multipliedBy(10), () -> false, results::add,
                hostOfOneThat(signal, subject)).run(List.of(COMPLETIONS));

        assertThat(results.getFirst().outcome()).as(results.getFirst().text()).isEqualTo(outcome);
        assertThat(results.getFirst().text()).contains("far end", says);
        assertThat(results.subList(1, results.size())).isNotEmpty()
                .allSatisfy(one -> assertThat(one.outcome()).as(one.text()).isEqualTo(Outcome.WORKS));
    }

    /** The far half says that it is where nobody is: the first that it says is its address. */
    private static FarHost hostThatIsElsewhere(Subject subject, EndpointAddress there) {
        String answer = "line done " + HexFormat.of().formatHex(there.encode());
        boolean[] isSaid = new boolean[1];
        return (properties, lines) -> FarRunner.here(subject).open(properties, line -> {
            boolean isAddress = !isSaid[0] && line.startsWith("line done ");
            isSaid[0] |= isAddress;
            lines.accept(isAddress ? answer : line);
        });
    }

    @Test
    void endpointsThatDoNotReachEachOtherAreARowThatNamesAddressAndPort() {
        Subject subject = subject("tcp;ofi_rxm").within(Patience.seconds(2));
        EndpointAddress there = EndpointAddress
                .of(new InetSocketAddress(TestProviders.address(subject.provider()), NOBODYS_PORT));
        List<Result> results = new ArrayList<>();

        new TrialRun(subject, Forked.classes(), Pair.DEADLINE.multipliedBy(10), () -> false, results::add,
                hostThatIsElsewhere(subject, there)).run(RuleTrials.PEERS, List.of(RuleTrials.REACHED));

        Result reached = result(results, RuleTrials.REACHED);
        assertThat(reached.outcome().isWrong()).as(reached.toString()).isTrue();
        assertThat(reached.text()).contains("nothing arrives at " + there);
    }

    /** It ends the process in every version, without what ofi4j does about it. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm"})
    void aCornerCaseIsWrongWithoutTheQuirks(String provider) {
        String name = "injects to an endpoint that was closed";
        Result with = runOne(subject(provider), List.of(), CORNERS, name);
        Result without = runOne(subject(provider).within(Patience.seconds(2)), List.of(NO_QUIRKS), CORNERS, name);

        assertThat(with.outcome()).as(with.text()).isEqualTo(Outcome.WORKS);
        assertThat(without.outcome()).as(without.text()).isEqualTo(Outcome.ENDED);
    }

    @Test
    void anEmptyFileOfAnEndpointsNameEndsTheProcessWithoutTheQuirks() {
        String name = "an endpoint has the name of an empty file";

        Result with = runOne(subject("shm"), List.of(), CORNERS, name);
        Result without = runOne(subject("shm"), List.of(NO_QUIRKS), CORNERS, name);

        assertThat(with.outcome()).as(with.text()).isEqualTo(Outcome.WORKS);
        assertThat(without.outcome()).as(without.text()).isEqualTo(Outcome.ENDED);
        assertThat(without.text()).contains("SIGBUS");
    }

    @Test
    void aWriteOfFourGibibytesIsRefusedAndNeverCompletesWithoutTheQuirk() {
        String name = "a write of 4 GiB is refused or completes";

        Result with = runOne(subject("udp;ofi_rxd"), List.of(), CORNERS, name);
        Result without = runOne(subject("udp;ofi_rxd").within(Patience.seconds(2)), List.of(NO_QUIRKS), CORNERS, name);

        assertThat(with.outcome()).as(with.text()).isEqualTo(Outcome.NOT_OFFERED);
        assertThat(without.outcome()).as(without.text()).isEqualTo(Outcome.HUNG);
    }

    @Test
    void aCloseUnderAtomicOperationsEndsTheProcessWithoutTheQuirk() {
        String name = "an endpoint closes under atomic operations that have come";

        Result with = runOne(subject("tcp;ofi_rxm"), List.of(), CORNERS, name);
        Result without = runOne(subject("tcp;ofi_rxm"), List.of(NO_QUIRKS), CORNERS, name);

        assertThat(with.outcome()).as(with.text()).isEqualTo(Outcome.WORKS);
        if (!TestProviders.isBefore(2, 0)) { // up to 1.22 it needs luck
            assertThat(without.outcome()).as(without.text()).isEqualTo(Outcome.ENDED);
        }
    }

    /** Another name would be refused. */
    @Test
    void whatNoTrialShowsAreQuirks() {
        Result events = runOne(subject("tcp;ofi_rxm"),
                List.of("-Dio.ofi4j.quirks=" + String.join(",", UnshownQuirks.names())), "fi_eq(3)",
                "fi_eq_read, fi_eq_write");

        assertThat(events.outcome()).as(events.text()).isEqualTo(Outcome.WORKS);
    }

    @Test
    void aWrongSourceIsFoundWithoutTheQuirk() {
        Result source = runOne(subject("shm"), List.of(NO_QUIRKS), MESSAGES,
                "the source of a peer that was not inserted");

        if (TestProviders.isBefore(2, 0)) {
            assertThat(source.outcome()).isEqualTo(Outcome.WRONG);
            assertThat(source.text()).isEqualTo("the source: came 0, expected -1");
        } else {
            assertThat(source.outcome()).isEqualTo(Outcome.WORKS);
        }
    }

    @Test
    void whatIsLeftWhenTimeIsUpIsNotTried() {
        List<Result> results = new ArrayList<>();
        new TrialRun(subject("shm"), List.of(), Duration.ZERO, () -> false, results::add).run(List.of("fi_rma(3)"));

        assertThat(results).hasSize(Catalogue.trials("fi_rma(3)", subject("shm")).size())
                .allSatisfy(one -> assertThat(one.outcome()).isEqualTo(Outcome.UNTRIED));
    }

    @Test
    void anInterruptEndsTheRunAtOnce() {
        List<Result> results = new ArrayList<>();
        new TrialRun(subject("shm"), List.of(), Pair.DEADLINE, () -> !results.isEmpty(), results::add)
                .run(Catalogue.pages());

        assertThat(results).hasSize(1);
    }
}

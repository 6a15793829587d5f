package io.ofi4j.misuse;

import io.ofi4j.Libfabric;
import io.ofi4j.info.Version;
import java.util.List;
import java.util.stream.Stream;

/**
 * A {@code @throws} without a row in the table of misuses, and why.
 *
 * @param key as {@link DocumentedThrows} has it
 * @param test class and method of the test that shows it, as in {@code io.ofi4j.job.JobTest#method}; empty if none does
 * @param reason why no row can show it here
 */
record ShownElsewhere(String key, String test, String reason) {
    private static final String NO_TEST = "";

    /** With the loaded version of libfabric. */
    static List<ShownElsewhere> all() {
        return Stream.of(byTests(), byDevices(), byNobody(), withVersions(), withoutRoutes()).flatMap(some -> some)
                .toList();
    }

    private static ShownElsewhere shown(String key, String test, String reason) {
        return new ShownElsewhere(key, test, reason);
    }

    /** Where more is needed than a call. */
    private static Stream<ShownElsewhere> byTests() {
        String job = "a rank must die; ranks are processes that a launcher has started";
        String answers = "no provider of Debian demands it: the test answers in its place";
        String test = "it takes as long as a test waits, which a property sets";
        String stuck = "it takes as long as the close waits";
        return Stream.of(shown("Job.check() JobException", "io.ofi4j.job.JobTest#theOthersLearnWhichRankHasDied", job),
                shown("Job.close() JobException",
                        "io.ofi4j.job.JobDeadlineTest#closeEndsThoughTheLauncherDoesNotAnswer",
                        "a launcher must be silent"),
                shown("Doorbell.open() RendezvousException",
                        "io.ofi4j.job.DoorbellTest#aProcessWithoutAFreeDescriptorGetsNoneAndLeavesNothing",
                        "a process must have no descriptor left"),
                shown("Ranks.lazy(Job, Endpoint, AddressVector, RemoteRegion[]) JobException",
                        "io.ofi4j.job.JobDeadlineTest#aBarrierEndsThoughItsAnswerDoesNotComeAndTheJobStaysBroken",
                        "a launcher must be silent"),
                shown("InsertResult.peer() RuntimeException",
                        "io.ofi4j.AddressVectorTest#manyAreInsertedAtOnceAndEachFailureIsReportedAtItsPlace",
                        "the exception is older than the call, and its stack trace does not have it"),
                shown("ProgressThread.close() RuntimeException",
                        "io.ofi4j.ProgressThreadTest#aFailureIsKeptAndThrownOnce",
                        "the exception is older than the call, and its stack trace does not have it"),
                shown("ProgressThread.close() FabricTimeoutException",
                        "io.ofi4j.faults.StuckThreadTest#closingAProgressThreadSaysThatItHangs", stuck),
                shown("SaveService.close() FabricTimeoutException",
                        "io.ofi4j.faults.StuckThreadTest#closingASaveServiceSaysThatItHangs", stuck),
                shown("CollectiveGroup.awaitJoined(Duration) FabricException",
                        "io.ofi4j.CollectivesTest#aGroupWhoseJoinHasFailedSaysSoEachTime",
                        "no provider fails a join at will: the test does so in its place"),
                shown("FutureThread.close() FabricTimeoutException",
                        "io.ofi4j.util.FutureThreadTest#closingSaysThatAnActionStillRuns", stuck),
                shown("FabricFuture.await() FabricTimeoutException",
                        "io.ofi4j.util.FutureThreadTest#aReceiveIsCanceledAtItsDeadlineAndItsMemoryIsFree",
                        "the thread that polls makes the exception, and its stack trace does not have the call"),
                shown("TestFabric.open() NoProviderException",
                        "io.ofi4j.test.ChosenProviderTest#whereNoneServesOneSentenceSaysWhyOfEach",
                        "a machine must have no provider"),
                shown("TestFabric.until(BooleanSupplier) FabricTimeoutException",
                        "io.ofi4j.test.TestFabricTest#aWaitInVainSaysWhatHasCompleted", test),
                shown("TestSide.await(long) FabricTimeoutException",
                        "io.ofi4j.test.TestFabricTest#aWaitInVainSaysWhatHasCompleted", test),
                shown("TestFabric.close() AssertionError",
                        "io.ofi4j.test.TestFabricTest#aRegionThatTheTestHasLeftOpenIsNamed",
                        "it is no misuse of a program, but the failure of a test"),
                shown("MemoryRegion.remote() IllegalStateException",
                        "io.ofi4j.MemoryRegionDemandsTest#aRegionIsTiedToTheFirstEndpointAndGoesBeforeIt", answers),
                shown("MemoryRegion.remote() UnsupportedOperationException",
                        "io.ofi4j.MemoryRegionDemandsTest#rawKeysGoFromRegionToDomain", answers));
    }

    /** Only a machine with a device shows these. */
    private static Stream<ShownElsewhere> byDevices() {
        return Stream.concat(Stream.of(
                shown("MemoryRegion.segment() UnsupportedOperationException",
                        "io.ofi4j.CudaTest#theHostMovesMemoryOfTheDevice", "it takes memory of a device"),
                shown("Domain.map(Path, FileChannel.MapMode, long, long, Access[]) FabricException",
                        "io.ofi4j.MappedFileTest#aFileIsReadByPeersAndSentFrom",
                        "a network device must read the mapping"),
                shown("PassiveEndpoint.address(EndpointAddress) UnsupportedOperationException",
                        "io.ofi4j.ChosenAddressTest#peersConnectToAPassiveEndpointWhereItWasToBe",
                        "only verbs does not take one"),
                shown("PreparedRma.tryRead(long) UnsupportedOperationException",
                        "io.ofi4j.VerbsTest#severalLocalSegmentsAreWrittenAndAReadIntoThemFillsAllOrIsRefusedByName",
                        "only Soft-iWARP fills only the first")),
                verbs());
    }

    /** The path beside libfabric: {@link MisuseOfVerbs} has what needs no device. */
    private static Stream<ShownElsewhere> verbs() {
        String table = "io.ofi4j.verbs.VerbsMisuseTableTest#eachOnADeviceIsANamedException";
        String reason = "it takes an RDMA device";
        String data = "MemoryWindow, VerbsMemoryRegion, long, long, int, long, VerbsAccess[]";
        String sendInvalidate = "QueuePair.trySendInvalidate(VerbsMemoryRegion, long, int, RemoteMemory, int, long)";
        String open = "VerbsConnection.openQueuePair(ProtectionDomain, QueuePairAttributes)";
        Stream<ShownElsewhere> inTable = Stream.of("CompletionChannel.await(Duration) FabricException",
                "ConnectionListener.next(Duration) FabricTimeoutException",
                "DeviceContext.port(int) IllegalArgumentException",
                "DeviceContext.openCompletionQueue(int) IllegalArgumentException",
                "DeviceContext.openCompletionQueue(int, CompletionChannel) IllegalArgumentException",
                "DeviceContext.openXrcDomain() UnsupportedOperationException",
                "MemoryWindow.remote() IllegalStateException",
                "ProtectionDomain.allocate(long, VerbsAccess[]) IllegalArgumentException",
                "ProtectionDomain.allocate(long, VerbsAccess[]) UnsupportedOperationException",
                "ProtectionDomain.register(MemorySegment, VerbsAccess[]) IllegalArgumentException",
                "ProtectionDomain.register(MemorySegment, VerbsAccess[]) UnsupportedOperationException",
                "ProtectionDomain.openWindow(MemoryWindow.Type) UnsupportedOperationException",
                "ProtectionDomain.openQueuePair(QueuePairAttributes) IllegalArgumentException",
                "ProtectionDomain.openQueuePair(QueuePairAttributes) UnsupportedOperationException",
                "QueuePair.address() IllegalStateException",
                "QueuePair.connect(QueuePairAddress) IllegalStateException", "QueuePair.fail() IllegalStateException",
                "QueuePair.tryBind(" + data + ") IllegalStateException",
                "QueuePair.tryInvalidate(MemoryWindow, int, long) IllegalStateException",
                sendInvalidate + " IllegalArgumentException", sendInvalidate + " UnsupportedOperationException",
                "VerbsConnection.accept(byte[], Duration) IllegalArgumentException",
                "VerbsConnection.accept(byte[], Duration) FabricTimeoutException",
                "VerbsConnection.close() IllegalStateException",
                "VerbsConnection.connect(byte[], Duration) IllegalArgumentException",
                "VerbsConnection.connect(byte[], Duration) FabricTimeoutException", open + " IllegalArgumentException",
                open + " UnsupportedOperationException", "VerbsConnection.reject(byte[]) IllegalArgumentException",
                "XrcDomain.openTarget(QueuePairAttributes) IllegalArgumentException",
                "XrcTarget.connect(QueuePairAddress) IllegalStateException",
                "VerbsCompletionQueue.poll(WorkHandler, int) IllegalArgumentException",
                "VerbsCompletionQueue.requestNotification(boolean) IllegalStateException",
                "VerbsMemoryRegion.close() IllegalStateException", "VerbsMemoryRegion.remote() IllegalStateException")
                .map(key -> shown(key, table, reason));
        Stream<ShownElsewhere> inTests = Stream.of(
                shown("MemoryWindow.close() IllegalStateException",
                        "io.ofi4j.verbs.VerbsWindowTest#theStateMachineLetsNothingElseThrough", reason),
                shown("Verbs.resolve(InetSocketAddress, InetSocketAddress, Duration) FabricTimeoutException",
                        "io.ofi4j.verbs.VerbsPathTest#aResolutionOfAnAddressThatNobodyHasEndsAtTheDeadline", reason),
                shown("VerbsConnection.connect(byte[], Duration) FabricException",
                        "io.ofi4j.verbs.VerbsPathTest#aRejectionAndNobodyListeningAreNamed", reason));
        return Stream.concat(inTable, inTests);
    }

    /** What no provider that is known here does, and no test can make it do. */
    private static Stream<ShownElsewhere> byNobody() {
        return Stream.of(
                shown("Connection.accept(byte[]) ConnectionException", NO_TEST,
                        "where the client has gone, the software providers accept all the same, and an event tells"),
                shown("ConnectionRequest.reject(byte[]) FabricException", NO_TEST,
                        "the software providers reject clients that have gone all the same"),
                shown("DeferredOperation.cancel() FabricException", NO_TEST,
                        "no provider cancels deferred work, and so none fails to"),
                shown("Domain.openEndpoint(FabricInfo) UnsupportedOperationException", NO_TEST,
                        "no provider has endpoints of another type than RDM, MSG and DGRAM"),
                shown("Fabric.openPassiveEndpoint(FabricInfo) UnsupportedOperationException", NO_TEST,
                        "every provider with connected endpoints that is known here has passive ones"),
                shown("Endpoint.joinMulticast(EndpointAddress, Duration) FabricTimeoutException", NO_TEST,
                        "the only provider with multicast reports a join before fi_join returns"),
                shown("MappedKey.close() WrongThreadException", NO_TEST, "no provider of Debian has raw keys"),
                shown("MemoryRegion.force() UncheckedIOException", NO_TEST, "it takes a disk that fails"),
                shown("SaveService.progress() FabricException", NO_TEST,
                        "the queue of no software provider fails as a whole"),
                shown("Tagged.trySendData(MemoryRegion, long, long, long, Peer, long, long) UnsupportedOperationException",
                        NO_TEST, "every provider with tags that is known here carries data"),
                shown("Waitable.tryWait() FabricException", NO_TEST, "fi_trywait of no software provider fails"));
    }

    /** Where no multicast group can be reached. */
    private static Stream<ShownElsewhere> withoutRoutes() {
        if (MisuseOfMulticast.isPossible()) { return Stream.empty(); }
        String join = "Endpoint.joinMulticast(EndpointAddress, Duration) ";
        String reason = "this machine has no route to multicast groups";
        String test = "io.ofi4j.MulticastTest#";
        return Stream.of(shown(join + "IllegalArgumentException", test + "anAddressThatIsNoGroupsIsRefused", reason),
                shown(join + "IllegalStateException", test + "aSecondJoinOfAnAddressIsRefusedAndTheFirstStays", reason),
                shown(join + "UnsupportedOperationException", test + "anEndpointThatOnlySendsIsRefused", reason),
                shown(join + "FabricException", test + "whereThereIsNoRouteNothingIsJoinedAndTheEndpointCanBeClosed",
                        reason),
                shown("MulticastGroup.trySend(MemoryRegion, long, long, long) IllegalStateException",
                        test + "aClosedGroupIsRefused", reason));
    }

    /** What only some versions of libfabric show. */
    private static Stream<ShownElsewhere> withVersions() {
        String empty = "only shm of libfabric 1.15 to 1.18 never completes what has no bytes";
        String mask = "only shm of libfabric 1.17 and 1.18 matches a tag without its mask";
        String transfer = "(MemoryRegion, long, long, Peer, RemoteRegion, long, long) UnsupportedOperationException";
        Stream<ShownElsewhere> shm = Stream.of(shown("Rma.tryWrite" + transfer, NO_TEST, empty),
                shown("Rma.tryWriteData(MemoryRegion, long, long, long, Peer, RemoteRegion, long, long)"
                        + " UnsupportedOperationException", NO_TEST, empty),
                shown("PreparedRma.tryWrite(long) UnsupportedOperationException", NO_TEST, empty),
                shown("Messages.trySend(MemoryRegion, long, long, Peer, long) UnsupportedOperationException", NO_TEST,
                        empty),
                shown("Tagged.trySend(MemoryRegion, long, long, Peer, long, long) UnsupportedOperationException",
                        NO_TEST, empty));
        Stream<ShownElsewhere> masks = Stream.of(
                shown("Tagged.tryReceive(MemoryRegion, long, long, long, long, long) UnsupportedOperationException",
                        NO_TEST, mask),
                shown("PreparedMessage.tag(long, long) UnsupportedOperationException", NO_TEST, mask));
        Stream<ShownElsewhere> two = Stream.of(shown("Libfabric.info(FabricHints) UnsupportedOperationException",
                NO_TEST, "libfabric 2 has every capability"));
        Version version = Libfabric.load().version();
        return Stream.of(MisuseOfProviders.EARLY.contains(version) ? Stream.<ShownElsewhere>empty() : shm,
                MisuseOfProviders.MASKED.contains(version) ? Stream.<ShownElsewhere>empty() : masks,
                version.major() < 2 ? Stream.<ShownElsewhere>empty() : two).flatMap(rows -> rows);
    }
}

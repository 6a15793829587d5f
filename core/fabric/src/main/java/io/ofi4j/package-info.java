/**
 * libfabric for Java: registered off-heap regions, and transfers, messages and atomic operations on them.
 *
 * <p>The goals of this library, in this order:
 * <ol>
 * <li><b>No misuse ends in a signal.</b> Misuse throws a named exception before native code is reached; no completion
 * is lost.
 * <li><b>The cost of C plus a few nanoseconds.</b> Posting and polling neither allocate nor look anything up.
 * <li><b>libfabric's model and vocabulary.</b> Classes are named after libfabric's objects and methods after its calls,
 * spelled out; the javadoc names the C call and its man page.
 * <li><b>Java idiom wherever it is free.</b>
 * </ol>
 *
 * <p><b>Where to begin.</b> The overview of this documentation has programs and the guide, from finding a provider to
 * an exchange between two peers. The guide is {@code TutorialTest} of this module's tests.
 *
 * <p><b>The objects</b>, each opened from an earlier one or bound to it:
 * <ul>
 * <li>{@link io.ofi4j.Libfabric#load} loads the library. {@link io.ofi4j.Libfabric#info} returns a
 * {@link io.ofi4j.info.FabricInfo} for each offer that matches {@link io.ofi4j.info.FabricHints}.
 * <li>A {@link io.ofi4j.Fabric} is a network, a {@link io.ofi4j.Domain} an adapter in it.
 * <li>A {@link io.ofi4j.MemoryRegion} is the source or target of transfers: memory allocated here, the application's
 * own, or a mapped file. Peers access it with its {@link io.ofi4j.RemoteRegion}, which the application sends to them.
 * <li>An {@link io.ofi4j.Endpoint} posts transfers and is their target. {@link io.ofi4j.Endpoint#rma} posts them;
 * {@link io.ofi4j.Rma#prepare} prepares transfers of several segments, with flags and data.
 * {@link io.ofi4j.Endpoint#messages} and {@link io.ofi4j.Endpoint#tagged} send and receive,
 * {@link io.ofi4j.Endpoint#atomics} posts atomic operations.
 * <li>A {@link io.ofi4j.CompletionQueue} reports completions, to {@link io.ofi4j.CompletionQueue#poll} or, blocking, to
 * {@link io.ofi4j.CompletionQueue#await}; a {@link io.ofi4j.Counter} counts them.
 * <li>An {@link io.ofi4j.AddressVector} holds the peers of unconnected endpoints. A connected endpoint
 * ({@link io.ofi4j.info.FabricHints#connected}) has a {@link io.ofi4j.Connection} and an {@link io.ofi4j.EventQueue}
 * for its events instead; a {@link io.ofi4j.PassiveEndpoint} listens for connections. Operations name a
 * {@link io.ofi4j.Peer}. A {@link io.ofi4j.MulticastGroup} sends to all its members.
 * </ul>
 *
 * <p><b>Life cycle.</b> Every opened object is {@link AutoCloseable}; closing it again has no effect. Close children
 * and bound objects first: closing an object with open ones throws {@link IllegalStateException}, which names them. A
 * {@link io.ofi4j.Scope} closes everything that was opened in it, in that order. Use after close throws
 * {@link IllegalStateException}. If {@code close} throws {@link io.ofi4j.errors.FabricException}, the object counts as
 * closed.
 *
 * <p><b>Threads.</b> The domain's {@link io.ofi4j.info.ThreadingModel} decides. With {@code SAFE}, any thread may call
 * anything. With {@code DOMAIN}, only the thread that opened the domain may. With {@code COMPLETION}, only the thread
 * that opened the completion queue may poll it and post on its endpoints. Other threads get
 * {@link WrongThreadException}.
 *
 * <p><b>Progress.</b> With {@link io.ofi4j.info.ProgressModel#MANUAL} a provider works only while the application calls
 * it. Even a process that is only the target of transfers must poll a queue of its endpoint, or start a
 * {@link io.ofi4j.ProgressThread}. {@link io.ofi4j.Waiting} waits for any condition, with a deadline.
 *
 * <p><b>Leaks.</b> With the system property {@code io.ofi4j.leaks} set to {@code report}, the {@link System.Logger}
 * named {@code io.ofi4j} warns of each object that was never closed, with the place where it was opened, once it is
 * unreachable or the process ends. {@code print} writes to the standard error stream instead, since
 * {@code java.util.logging} may drop messages at the end of the process. With either, the exception that names open
 * children also says where they were opened. Parents refer to their children, so a fabric and everything opened from it
 * become unreachable together. This package refers to passive endpoints, and with some providers to all objects of a
 * process that has an open endpoint; these are reported only at the end of the process.
 *
 * <p><b>Observation.</b> {@link io.ofi4j.CompletionQueue#statistics}, {@link io.ofi4j.Endpoint#statistics} and
 * {@link io.ofi4j.Domain#statistics} return counts at any time, and latencies once
 * {@link io.ofi4j.Endpoint#recordLatencies} has been called. The JDK Flight Recorder gets the events
 * {@code io.ofi4j.MemoryRegistration}, {@code MemoryDeregistration}, {@code EndpointEnabled}, {@code EndpointClosed},
 * {@code OperationsCanceled}, {@code ConnectionMade}, {@code ConnectionRefused}, {@code ConnectionEnded},
 * {@code CompletionError}, {@code FabricException}, {@code SlowPost} (a post that waited for room for 1 ms or longer)
 * and {@code SlowWait} (10 ms or longer). Posts and polls that need not wait record nothing. The modules
 * {@code jdk.jfr} and {@code java.management} are optional; where the second is, a bean shows the open objects and
 * their counts ({@link io.ofi4j.info.OpenObjectsMXBean}).
 */
package io.ofi4j;

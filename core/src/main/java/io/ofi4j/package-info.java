/**
 * libfabric for Java: registered off-heap regions, and one-sided transfers on them.
 *
 * <p>What this library aims for, in this order:
 * <ol>
 * <li><b>No misuse ends in a signal.</b> Every misuse of this package ends in a named exception before native code is
 * reached; no completion is lost silently.
 * <li><b>The cost of C plus a few nanoseconds.</b> Posting and polling allocate nothing and look nothing up.
 * <li><b>libfabric's model and vocabulary.</b> Classes are named after libfabric's objects and methods after its calls,
 * spelled out; the javadoc names the C call and its man page.
 * <li><b>Java idiom wherever it is free.</b>
 * </ol>
 *
 * <p><b>Where to begin.</b> {@code TutorialTest}, among this module's tests, is the guide: it reads from top to bottom, from
 * finding a provider to an exchange between two sides, and every part of it runs.
 *
 * <p><b>The objects</b>, each opened from the one before it or bound to it:
 * <ul>
 * <li>{@link io.ofi4j.Libfabric#load} loads the library, and {@link io.ofi4j.Libfabric#info} finds what matches
 * {@link io.ofi4j.info.FabricHints}: a {@link io.ofi4j.info.FabricInfo} for each offer.
 * <li>A {@link io.ofi4j.Fabric} is a network, a {@link io.ofi4j.Domain} an adapter in it.
 * <li>{@link io.ofi4j.MemoryRegion}s are the memory that is transferred from and to: allocated, the application's own, or a
 * file's. Peers reach one by its {@link io.ofi4j.RemoteRegion}, which is sent to them.
 * <li>An {@link io.ofi4j.Endpoint} starts transfers and is their target. {@link io.ofi4j.Endpoint#rma} posts them, and
 * {@link io.ofi4j.Rma#message} prepares those with vectors, flags and data.
 * <li>A {@link io.ofi4j.CompletionQueue} tells which have completed, by {@link io.ofi4j.CompletionQueue#poll} or, blocking,
 * {@link io.ofi4j.CompletionQueue#await}; a {@link io.ofi4j.Counter} tells how many.
 * <li>An {@link io.ofi4j.AddressVector} has the peers of unconnected endpoints. Connected ones
 * ({@link io.ofi4j.info.FabricHints#connected}) have a {@link io.ofi4j.Connection} instead, an {@link io.ofi4j.EventQueue} that tells
 * what becomes of it, and a {@link io.ofi4j.PassiveEndpoint} on the accepting side. Either way operations name a
 * {@link io.ofi4j.Peer}.
 * </ul>
 *
 * <p><b>Life cycle.</b> Everything that is opened is {@link AutoCloseable}; closing twice is harmless. What was opened
 * from or bound to an object must be closed before it, or {@link IllegalStateException} names what is still open. Use after
 * close throws {@link IllegalStateException}.
 *
 * <p><b>Threads.</b> The {@link io.ofi4j.info.ThreadingModel} of the domain decides: with {@code SAFE} any thread may call
 * anything; with {@code DOMAIN} only the thread that opened the domain; with {@code COMPLETION} only the thread that opened
 * the completion queue may poll it and post on endpoints bound to it. Another thread gets {@link WrongThreadException}.
 *
 * <p><b>Progress.</b> With {@link io.ofi4j.info.ProgressModel#MANUAL} a provider works only while the application calls it:
 * even a process that is only the target of writes and reads must poll a queue of its endpoint, or have a
 * {@link io.ofi4j.ProgressThread} do it. {@link io.ofi4j.Waiting} waits for anything, with a deadline.
 *
 * <p><b>Leaks.</b> With the system property {@code io.ofi4j.leaks} set to {@code report}, each object that was opened and never
 * closed is reported, with where it was opened, as a warning of the {@link System.Logger} named {@code io.ofi4j}: when nothing
 * refers to it any more, and when the process ends. Parents hold what was opened from them, so the first happens to a fabric and
 * all below it together, and never to passive endpoints or what is beside an open shm endpoint, which this package itself refers
 * to. {@code java.util.logging} may drop what it is told as the process ends; {@code print} in the place of {@code report}
 * writes to the standard error stream. With either, the exception that names what must be closed first also says where that was
 * opened. Without, nothing is noted.
 *
 * <p><b>Observation.</b> {@link io.ofi4j.CompletionQueue#statistics}, {@link io.ofi4j.Endpoint#statistics} and
 * {@link io.ofi4j.Domain#statistics} give counts at any time. The JDK Flight Recorder gets the events
 * {@code io.ofi4j.MemoryRegistration}, {@code MemoryDeregistration}, {@code EndpointEnabled}, {@code EndpointClosed},
 * {@code OperationsCanceled}, {@code ConnectionMade}, {@code ConnectionRefused}, {@code ConnectionEnded},
 * {@code CompletionError}, {@code FabricException}, {@code SlowPost} (an operation that waited for room; 1 ms or longer) and
 * {@code SlowWait} (10 ms or longer). A post or poll that need not wait gives none. The module {@code jdk.jfr} is optional: a
 * runtime made without it works, and tells nothing.
 */
package io.ofi4j;

import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.info.ProgressModel;
import io.ofi4j.info.ThreadingModel;

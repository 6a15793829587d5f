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
 * <p>The way through it: {@link io.ofi4j.Libfabric#load} loads the library, {@link io.ofi4j.Libfabric#info} finds
 * providers that match {@link io.ofi4j.FabricHints}; a {@link io.ofi4j.Fabric} opens a {@link io.ofi4j.Domain}, which opens
 * a {@link io.ofi4j.CompletionQueue}, an {@link io.ofi4j.AddressVector} and an {@link io.ofi4j.Endpoint}, and registers
 * {@link io.ofi4j.MemoryRegion}s. {@link io.ofi4j.Endpoint#rma} posts transfers, {@link io.ofi4j.CompletionQueue#poll}
 * tells what has completed. Connected endpoints
 * ({@link io.ofi4j.FabricHints#connected}) have an {@link io.ofi4j.EventQueue}, a {@link io.ofi4j.PassiveEndpoint} on the
 * accepting side, and a {@link io.ofi4j.Connection} in the place of the address vector.
 *
 * <p><b>Life cycle.</b> Everything that is opened is {@link AutoCloseable}; closing twice is harmless. What was opened
 * from or bound to an object must be closed before it, or {@link IllegalStateException} names what is still open. Use after
 * close throws {@link IllegalStateException}.
 *
 * <p><b>Threads.</b> The {@link io.ofi4j.ThreadingModel} of the domain decides: with {@code SAFE} any thread may call
 * anything; with {@code DOMAIN} only the thread that opened the domain; with {@code COMPLETION} only the thread that opened
 * the completion queue may poll it and post on endpoints bound to it. Another thread gets {@link WrongThreadException}.
 *
 * <p><b>Progress.</b> With {@link io.ofi4j.ProgressModel#MANUAL} a provider works only while the application calls it:
 * even a process that is only the target of writes and reads must poll a queue of its endpoint.
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

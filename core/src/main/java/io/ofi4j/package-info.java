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
 */
package io.ofi4j;

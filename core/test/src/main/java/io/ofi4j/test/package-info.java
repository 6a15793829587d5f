/**
 * For tests of programs that use ofi4j, on any machine and without a device. A {@link io.ofi4j.test.TestFabric} opens
 * two sides in one process over a provider that this machine has, and checks at its close that the test has left
 * nothing open. With JUnit 5 the annotation {@link io.ofi4j.test.FabricTest} opens and closes it for each test:
 *
 * <pre>{@code
 * @FabricTest
 * class GreetingTest {
 *     @Test
 *     void aMessageArrives(TestFabric fabric) {
 *         MemoryRegion from = fabric.client().allocate(64);
 *         MemoryRegion to = fabric.server().allocate(64);
 *         fabric.server().endpoint().messages().receive(to.slice(0, 64), 1);
 *         from.segment().setString(0, "Hello, server");
 *         fabric.client().endpoint().messages().send(from.slice(0, 64), fabric.client().peer(), 2);
 *         fabric.server().await(1);
 *         assertEquals("Hello, server", to.segment().getString(0));
 *     }
 * }
 * }</pre>
 *
 * <p><b>System properties.</b> {@code io.ofi4j.test.provider} names the provider of tests that name none themselves.
 * {@code io.ofi4j.test.deadline} is the longest wait of a test in seconds, {@value io.ofi4j.test.TestFabric#SECONDS}
 * without it.
 *
 * <p>The guide is {@code core/guide/TESTING.md}.
 */
package io.ofi4j.test;

/** How two processes that measure together talk to each other. */
package io.ofi4j.examples.control;

/** Runs trials in JVMs of their own, so that what ends one ends a row and not the run. */
package io.ofi4j.conformance.run;

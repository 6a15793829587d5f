/** Trials of the rules that programs lean on beyond single calls. */
package io.ofi4j.conformance.rules;

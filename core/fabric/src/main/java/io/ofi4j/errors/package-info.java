/**
 * What every other package throws when a call of libfabric fails, or a deadline passes:
 * {@link io.ofi4j.errors.FabricException}, and subclasses of it where a program would act differently. A program that
 * catches none of them needs no import from here. Misuse throws the JDK's exceptions instead, such as
 * {@link IllegalArgumentException}.
 */
package io.ofi4j.errors;

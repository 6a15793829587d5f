package io.ofi4j.examples;

import io.ofi4j.FabricException;
import io.ofi4j.LibfabricNotFoundException;
import picocli.CommandLine.ParameterException;

/** What the user reads when something fails. */
final class Sentences {
    private Sentences() {}

    static String of(Throwable failure) {
        if (failure instanceof IllegalCallerException) {
            return "The JVM refuses native access: start java with " + NativeAccess.OPTION + ".";
        }
        if (failure instanceof LibfabricNotFoundException) { return Library.advice(failure.getMessage()); }
        String message = failure.getMessage();
        if (failure instanceof CommandFailure || failure instanceof FabricException
                || failure instanceof UnsupportedOperationException || failure instanceof ParameterException) {
            return message;
        }
        return "This should not have happened: " + failure
                + ". Run it again with --stacktrace and report what it says.";
    }
}

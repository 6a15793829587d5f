package io.ofi4j.command;

import io.ofi4j.errors.FabricException;
import io.ofi4j.errors.LibfabricNotFoundException;
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
        // picocli's of options that exclude each other
        if (failure instanceof ParameterException) { return message.replaceFirst("^Error: ", ""); }
        if (failure instanceof CommandFailure || failure instanceof FabricException
                || failure instanceof UnsupportedOperationException) {
            return message;
        }
        return "This should not have happened: " + failure
                + ". Run it again with --stacktrace and report what it says.";
    }
}

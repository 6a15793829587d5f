package io.ofi4j.job.internal;

/** The launcher cannot be reached, or refused. */
public final class LauncherException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LauncherException(String message, Throwable cause) { super(message, cause); }

    LauncherException(String message) { super(message); }
}

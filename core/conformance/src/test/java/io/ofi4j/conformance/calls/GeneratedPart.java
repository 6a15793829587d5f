package io.ofi4j.conformance.calls;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A part of a document that a test writes, between two comments. */
final class GeneratedPart {
    private final Path document;
    private final String before;
    private final String after;
    private final String current;

    /** @param name what the comments call it */
    GeneratedPart(Path document, String name) {
        this.document = document;
        String begin = "<!-- " + name + ": written by CallDocumentTest -->\n\n";
        String end = "\n<!-- end of " + name + " -->";
        try {
            String text = Files.readString(document);
            int from = text.indexOf(begin);
            int to = text.indexOf(end);
            if (from < 0 || to < from) {
                throw new IllegalStateException(document + " has no place for " + name + ", between two comments");
            }
            before = text.substring(0, from + begin.length());
            current = text.substring(from + begin.length(), to);
            after = text.substring(to);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As the document has it. */
    String current() { return current; }

    void write(String text) {
        try {
            Files.writeString(document, before + text + after);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

/**
 * The C declarations that ofi4j stands on, as jextract translates them: libfabric's public headers in
 * {@code io.ofi4j.bindings}, and a few calls of the C library in {@code io.ofi4j.bindings.libc}.
 *
 * <p>Nothing here checks anything: a wrong argument ends the process. Use the module {@code io.ofi4j} instead.
 *
 * <p>This file alone is written by hand; {@code scripts/generate-bindings} writes the rest.
 */
module io.ofi4j.bindings {
    exports io.ofi4j.bindings to io.ofi4j;
    exports io.ofi4j.bindings.libc to io.ofi4j;
}

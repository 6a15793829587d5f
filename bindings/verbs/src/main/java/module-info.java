/**
 * A few declarations of libibverbs and librdmacm, as jextract translates them.
 *
 * <p>Nothing here checks anything: a wrong argument ends the process. Use the module {@code io.ofi4j.verbs} instead.
 *
 * <p>This file alone is written by hand; {@code scripts/generate-bindings} writes the rest.
 */
module io.ofi4j.bindings.verbs {
    exports io.ofi4j.bindings.verbs to io.ofi4j.verbs;
}

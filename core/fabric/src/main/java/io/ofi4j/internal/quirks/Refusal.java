package io.ofi4j.internal.quirks;

/**
 * What ofi4j refuses because of a fact, in words for exceptions and for the table of refusals.
 *
 * @param what the calls that are refused, in the plural where there is one
 * @param why what the provider does with them; behind "which"
 * @param instead what to do, in the imperative
 */
record Refusal(String what, String why, String instead) {
    /** {@return the sentence of an exception} */
    String of(Provider provider) {
        return "ofi4j refuses " + what + " over " + provider.name() + " of libfabric " + provider.libfabric()
                + ", which " + why + ": " + instead;
    }
}

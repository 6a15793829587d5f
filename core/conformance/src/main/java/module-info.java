/** Trials that show whether a provider does what its man pages say. */
module io.ofi4j.conformance {
    requires transitive io.ofi4j;

    exports io.ofi4j.conformance;
    exports io.ofi4j.conformance.calls;
    exports io.ofi4j.conformance.rules;
    exports io.ofi4j.conformance.run;
}

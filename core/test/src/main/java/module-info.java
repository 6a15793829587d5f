/** For tests of programs that use ofi4j: two sides in one process, and an extension of JUnit, which is optional. */
module io.ofi4j.test {
    requires transitive io.ofi4j;
    requires static transitive org.junit.jupiter.api;

    exports io.ofi4j.test;
}

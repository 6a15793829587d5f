/** Saves: what peers have written into memory becomes durable, and they are told. */
module io.ofi4j.durable {
    requires transitive io.ofi4j;

    exports io.ofi4j.durable;
}

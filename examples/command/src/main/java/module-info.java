/** The ofi4j command. */
@SuppressWarnings("requires-automatic") // HdrHistogram has no module descriptor
module io.ofi4j.command {
    requires io.ofi4j;
    requires io.ofi4j.job;
    requires io.ofi4j.durable;
    requires io.ofi4j.verbs;
    requires io.ofi4j.conformance;
    requires jdk.nio.mapmode; // files on persistent memory
    requires java.management; // statistics as beans
    requires java.management.rmi; // those of other JVMs
    requires jdk.attach;
    requires info.picocli;
    requires HdrHistogram;
    requires com.google.gson;
    requires me.tongfei.progressbar;
    requires jdk.unsupported; // sun.misc.Signal: Ctrl-C ends a measurement in order

    opens io.ofi4j.command to info.picocli;
    opens io.ofi4j.command.control to info.picocli;
    opens io.ofi4j.command.doctor to info.picocli, com.google.gson;
    opens io.ofi4j.command.info to info.picocli;
    opens io.ofi4j.command.perf to info.picocli;
    opens io.ofi4j.command.soak to info.picocli, com.google.gson;
    opens io.ofi4j.command.top to info.picocli, com.google.gson;
    opens io.ofi4j.command.verify to info.picocli, com.google.gson;
}

package io.ofi4j.examples.info;

import io.ofi4j.examples.NameConverter;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import io.ofi4j.info.ThreadingModel;
import java.io.PrintWriter;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code ofi4j info}. */
@Command(name = "info", description = "Lists what libfabric offers on this machine, as fi_info does.")
public final class InfoCommand implements Runnable {
    @Option(names = {"-p", "--provider"}, paramLabel = "NAME", converter = NameConverter.class,
            description = "Only of this provider.")
    private String provider;

    @Option(names = {"-d", "--domain"}, paramLabel = "NAME", converter = NameConverter.class,
            description = "Only of this device or network interface.")
    private String domain;

    @Option(names = {"-f", "--fabric"}, paramLabel = "NAME", converter = NameConverter.class,
            description = "Only of this network.")
    private String fabric;

    @Option(names = {"-t", "--ep-type", "--ep_type"}, paramLabel = "TYPE",
            converter = Names.EndpointTypeConverter.class,
            description = "Only endpoints of this type: MSG, DGRAM or RDM, with or without FI_EP_ in front.")
    private EndpointType endpointType = EndpointType.UNSPECIFIED;

    @Option(names = {"-c", "--caps"}, paramLabel = "CAP[|CAP]", converter = Names.CapabilitiesConverter.class,
            description = "Only what has all of these capabilities, "
                    + "such as 'RMA|ATOMIC', with or without FI_ in front.")
    private Set<Capability> capabilities = Set.of();

    @Option(names = {"-v", "--verbose"}, description = "Everything libfabric says.")
    private boolean verbose;

    @Option(names = {"-e", "--env"}, description = "List the environment variables instead that libfabric and its "
            + "providers read; with -p, that provider's.")
    private boolean environment;

    @Option(names = {"-l", "--list"},
            description = "Only the providers' names and versions, each once; with the other options, of those that they leave.")
    private boolean list;

    @Option(names = "--json", description = "Print a JSON object with every attribute.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        Libfabric libfabric = Libfabric.load();
        PrintWriter out = spec.commandLine().getOut();
        if (environment) {
            new Parameters(libfabric, provider).print(out, json);
        } else {
            List<FabricInfo> infos = libfabric.info(hints());
            if (json) {
                out.println(InfoJson.of(libfabric, infos));
            } else if (list) {
                new InfoTable(libfabric, infos).printProviders(out);
            } else if (verbose) {
                infos.forEach(info -> out.println(info.details().strip() + System.lineSeparator()));
            } else {
                new InfoTable(libfabric, infos).print(out);
            }
        }
        out.flush();
    }

    private FabricHints hints() {
        FabricHints hints = FabricHints.any().threading(ThreadingModel.UNSPECIFIED).endpointType(endpointType)
                .capabilities(capabilities.toArray(Capability[]::new));
        hints = provider == null ? hints : hints.provider(provider);
        hints = domain == null ? hints : hints.domain(domain);
        return fabric == null ? hints : hints.fabric(fabric);
    }
}

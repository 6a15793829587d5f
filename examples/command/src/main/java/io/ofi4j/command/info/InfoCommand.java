package io.ofi4j.command.info;

import io.ofi4j.command.NameConverter;
import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricHints;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.Libfabric;
import io.ofi4j.info.ThreadingModel;
import java.io.PrintWriter;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ofi4j info}. */
@Command(name = "info",
        description = "Lists what libfabric offers on this machine, with the options and in the form of fi_info.")
public final class InfoCommand implements Runnable {
    @Option(names = {"-n", "--node"}, paramLabel = "NAME", converter = NameConverter.class,
            description = "Only what reaches this host or address.")
    private String node;

    @Option(names = {"-P", "--port"}, paramLabel = "PORT", converter = NameConverter.class,
            description = "With -n: its port or service.")
    private String port;

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
            converter = Names.EndpointTypeConverter.class, completionCandidates = Names.EndpointTypes.class,
            description = "Only endpoints of this type: MSG, DGRAM or RDM, with or without FI_EP_ in front.")
    private EndpointType endpointType = EndpointType.UNSPECIFIED;

    @Option(names = {"-c", "--caps"}, paramLabel = "CAPS", converter = Names.CapabilitiesConverter.class,
            description = "Only what has all of these capabilities, "
                    + "such as 'RMA|ATOMIC', with or without FI_ in front.")
    private Set<Capability> capabilities = Set.of();

    @Option(names = {"-a", "--addr-format", "--addr_format"}, paramLabel = "FORMAT",
            converter = Names.AddressFormatConverter.class, completionCandidates = Names.AddressFormats.class,
            description = "Only addresses of this format, such as SOCKADDR_IN, with or without FI_ in front.")
    private AddressFormat addressFormat = AddressFormat.UNSPECIFIED;

    /** What is printed. */
    @ArgGroup
    private Form form = new Form();

    /** At most one of them. */
    private static final class Form {
        @Option(names = {"-v", "--verbose"}, description = "Everything that libfabric says of each.")
        private boolean verbose;

        @Option(names = {"-e", "--env"}, description = "List the environment variables instead that libfabric and its "
                + "providers read; with -p, that provider's.")
        private boolean environment;

        @Option(names = {"-g", "--filter"}, paramLabel = "TEXT",
                description = "As -e, only the variables with this text in their names, in any case.")
        private String filter;

        @Option(names = {"-l", "--list"}, description = "Only the providers' names and versions, each once; "
                + "the other options choose among them.")
        private boolean list;

        @Option(names = {"-T", "--table"}, description = "A table for each provider, with the formats of addresses.")
        private boolean table;
    }

    @Option(names = "--json", description = "Print a JSON object with every attribute.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        Libfabric libfabric = Libfabric.load();
        PrintWriter out = spec.commandLine().getOut();
        if (form.environment || form.filter != null) {
            new Parameters(libfabric, provider, form.filter).print(out, json);
        } else {
            print(out, libfabric, libfabric.info(hints()));
        }
        out.flush();
    }

    private void print(PrintWriter out, Libfabric libfabric, List<FabricInfo> infos) {
        if (json) {
            out.println(InfoJson.of(libfabric, infos));
        } else if (form.list) {
            InfoList.printProviders(out, infos);
        } else if (form.table) {
            new InfoTable(libfabric, infos).print(out);
        } else if (form.verbose) {
            InfoList.printDetails(out, infos);
        } else {
            InfoList.print(out, infos);
        }
    }

    private FabricHints hints() {
        if (port != null && node == null) {
            throw new ParameterException(spec.commandLine(), "-P goes with -n, the host whose port it is");
        }
        FabricHints hints = FabricHints.any().threading(ThreadingModel.UNSPECIFIED).endpointType(endpointType)
                .capabilities(capabilities.toArray(Capability[]::new)).addressFormat(addressFormat);
        hints = node == null ? hints : hints.destination(node, port);
        hints = provider == null ? hints : hints.provider(provider);
        hints = domain == null ? hints : hints.domain(domain);
        return fabric == null ? hints : hints.fabric(fabric);
    }
}

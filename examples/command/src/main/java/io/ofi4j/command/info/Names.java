package io.ofi4j.command.info;

import io.ofi4j.info.AddressFormat;
import io.ofi4j.info.Capability;
import io.ofi4j.info.EndpointType;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Names as fi_info takes them, with or without their prefix, in any case. */
public final class Names {
    private Names() {}

    private static String bare(String text, String... prefixes) {
        String name = text.strip().toUpperCase(Locale.ROOT);
        for (String prefix : prefixes) {
            name = name.startsWith(prefix) ? name.substring(prefix.length()) : name;
        }
        return name;
    }

    private static <E extends Enum<E>> E find(String text, String name, List<E> values, String what) {
        return values.stream().filter(value -> value.name().equals(name)).findFirst()
                .orElseThrow(() -> new TypeConversionException("there is no " + what + " '" + text + "'; there is "
                        + values.stream().map(Enum::name).collect(Collectors.joining(", "))));
    }

    /** The types of endpoints that may be asked for. */
    public static final class EndpointTypes implements Iterable<String> {
        static final List<EndpointType> ALL = List.of(EndpointType.MSG, EndpointType.DGRAM, EndpointType.RDM);

        @Override
        public Iterator<String> iterator() { return ALL.stream().map(EndpointType::name).iterator(); }
    }

    /** A type of endpoint. */
    public static final class EndpointTypeConverter implements ITypeConverter<EndpointType> {
        @Override
        public EndpointType convert(String text) {
            return find(text, bare(text, "FI_", "EP_"), EndpointTypes.ALL, "endpoint type");
        }
    }

    /** The formats of addresses that may be asked for. */
    static final class AddressFormats implements Iterable<String> {
        static final List<AddressFormat> ALL = Arrays.stream(AddressFormat.values())
                .filter(format -> format.value() > 0).toList();

        @Override
        public Iterator<String> iterator() { return ALL.stream().map(AddressFormat::name).iterator(); }
    }

    /** A format of addresses. */
    static final class AddressFormatConverter implements ITypeConverter<AddressFormat> {
        @Override
        public AddressFormat convert(String text) {
            return find(text, bare(text, "FI_", "ADDR_"), AddressFormats.ALL, "address format");
        }
    }

    /** Capabilities with bars or commas between them. */
    static final class CapabilitiesConverter implements ITypeConverter<Set<Capability>> {
        @Override
        public Set<Capability> convert(String text) {
            Set<Capability> capabilities = EnumSet.noneOf(Capability.class);
            for (String name : text.split("[|,]", -1)) {
                capabilities.add(find(name, bare(name, "FI_"), Arrays.asList(Capability.values()), "capability"));
            }
            return capabilities;
        }
    }
}

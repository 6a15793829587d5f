package io.ofi4j.examples.info;

import io.ofi4j.FabricInfo;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names that only libfabric's own text has for the numbers of an info. */
final class Details {
    private static final Pattern PROTOCOL = Pattern.compile("protocol: FI_PROTO_(\\w+)");
    private static final Pattern ADDRESS_FORMAT = Pattern.compile("addr_format: (?:FI_)?(\\w+)");

    private Details() {
    }

    static String protocol(FabricInfo info) {
        return find(PROTOCOL, info, info.endpoint().protocol());
    }

    static String addressFormat(FabricInfo info) {
        return find(ADDRESS_FORMAT, info, info.addressFormat());
    }

    private static String find(Pattern pattern, FabricInfo info, int number) {
        Matcher matcher = pattern.matcher(info.details());
        return matcher.find() ? matcher.group(1) : "0x" + Integer.toHexString(number);
    }
}

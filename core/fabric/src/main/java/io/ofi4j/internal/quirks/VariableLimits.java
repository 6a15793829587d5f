package io.ofi4j.internal.quirks;

import io.ofi4j.info.VersionRange;
import io.ofi4j.internal.os.LibC;
import java.util.List;
import java.util.function.Predicate;

/**
 * Environment variables with values that libfabric takes, and that then end the process or stop all traffic. They are
 * looked at when a domain is opened, as the process has them, and refused. Zero, -1 and 2^63 were tried for each
 * variable of the providers here, with a C program of two processes. What only fails with an error is left to the
 * provider.
 */
final class VariableLimits extends Quirk {
    private static final String UPSTREAM = """
            Some values of environment variables end the process or stop all traffic.""";
    /** 1.17 and 2.1 were tried. */
    private static final VersionRange TRIED = VersionRange.from(1, 15).guess();
    private static final long ANY = Long.MIN_VALUE;
    private static final Predicate<Provider> HAS_UNIVERSE = provider -> provider.hasCore("shm", "tcp", "net", "udp");
    private static final Predicate<Provider> IS_SHM = provider -> provider.is("shm");
    private static final Predicate<Provider> IS_SOCKETS = provider -> provider.is("sockets");
    private static final Predicate<Provider> IS_RXM = provider -> provider.hasLayer("ofi_rxm");
    private static final Predicate<Provider> IS_RXD = provider -> provider.hasLayer("ofi_rxd");
    private static final Predicate<Provider> IS_TCP = provider -> provider.hasCore("tcp");

    /** What libfabric makes of the long that it reads; a size stays signed here, so that -1 is below all others. */
    private enum Type {
        SIZE {
            @Override
            long of(long read) { return read; }
        },
        INT {
            @Override
            long of(long read) { return (int) read; }
        },
        UNSIGNED_SHORT {
            @Override
            long of(long read) { return read & 0xffff; }
        };

        abstract long of(long read);
    }

    /**
     * The values of a variable that work.
     *
     * @param effect what the provider does with others; behind "which"
     */
    private record Limit(String variable, Type type, Predicate<Provider> providers, VersionRange versions, long minimum,
            long maximum, String effect) {

        boolean concerns(Provider provider) {
            return providers.test(provider) && versions.contains(provider.libfabric());
        }

        void check(Provider provider) {
            String text = LibC.getenv(variable);
            if (text == null) { return; }
            long value = type.of(number(text));
            if (value < minimum || value > maximum) {
                String instead = "set " + (minimum == ANY ? "at most " : minimum + " to ") + maximum
                        + ", or leave the environment variable out";
                Quirks.require(new Refusal(variable + "=" + text, effect + " then", instead).of(provider));
            }
        }
    }

    private static final List<Limit> LIMITS = List.of(
            new Limit("FI_UNIVERSE_SIZE", Type.SIZE, HAS_UNIVERSE, TRIED, ANY, Integer.MAX_VALUE, "ends the process"),
            new Limit("FI_SHM_TX_SIZE", Type.SIZE, IS_SHM, TRIED, 1, Integer.MAX_VALUE,
                    "sends nothing or ends the process"),
            new Limit("FI_SHM_RX_SIZE", Type.SIZE, IS_SHM, VersionRange.from(1, 15).to(1, 22).guess(), 1,
                    Integer.MAX_VALUE, "receives nothing or ends the process"),
            new Limit("FI_SHM_RX_SIZE", Type.SIZE, IS_SHM, VersionRange.from(2, 0).guess(), 2, Integer.MAX_VALUE,
                    "waits for ever or ends the process"),
            new Limit("FI_OFI_RXM_RX_SIZE", Type.SIZE, IS_RXM, TRIED, 0, Integer.MAX_VALUE,
                    "receives nothing or ends the process"),
            new Limit("FI_OFI_RXM_EAGER_LIMIT", Type.SIZE, IS_RXM, VersionRange.from(1, 15).to(1, 22).guess(), 0,
                    Integer.MAX_VALUE, "sends nothing"),
            new Limit("FI_OFI_RXM_CM_PROGRESS_INTERVAL", Type.INT, IS_RXM, TRIED, 0, 1_000_000, "connects to nobody"),
            new Limit("FI_TCP_MAX_INJECT", Type.SIZE, IS_TCP, VersionRange.from(2, 0).guess(), 0, 1 << 20,
                    "receives nothing or ends the process"),
            new Limit("FI_TCP_MAX_RX_SIZE", Type.SIZE, IS_TCP, VersionRange.from(2, 0).guess(), ANY, 1 << 20,
                    "receives nothing"),
            new Limit("FI_OFI_RXD_SPIN_COUNT", Type.INT, IS_RXD, TRIED, 0, Integer.MAX_VALUE, "moves nothing"),
            new Limit("FI_OFI_RXD_MAX_UNACKED", Type.UNSIGNED_SHORT, IS_RXD, TRIED, 1, 65535, "moves nothing"),
            new Limit("FI_SOCKETS_DEF_CONN_MAP_SZ", Type.INT, IS_SOCKETS, TRIED, 1, Integer.MAX_VALUE,
                    "cannot connect or ends the process"),
            new Limit("FI_SOCKETS_DEF_AV_SZ", Type.INT, IS_SOCKETS, VersionRange.from(1, 15).to(1, 22).guess(), 1,
                    Integer.MAX_VALUE, "ends the process"));

    VariableLimits() {
        super("variable-limits", provider -> LIMITS.stream().anyMatch(limit -> limit.providers.test(provider)), TRIED,
                UPSTREAM, "VariableLimitsTest");
    }

    @Override
    protected void beforeDomain(Provider provider) {
        LIMITS.stream().filter(limit -> limit.concerns(provider)).forEach(limit -> limit.check(provider));
    }

    /** As strtol(3) with base 0, which libfabric uses: what follows the digits is ignored, and no digits are 0. */
    static long number(String text) {
        String rest = text.stripLeading();
        boolean isNegative = rest.startsWith("-");
        if (isNegative || rest.startsWith("+")) { rest = rest.substring(1); }
        boolean isHexadecimal = rest.matches("(?is)0x[0-9a-f].*");
        int radix = isHexadecimal ? 16 : rest.startsWith("0") ? 8 : 10;
        long value = 0;
        for (int i = isHexadecimal ? 2 : 0; i < rest.length() && Character.digit(rest.charAt(i), radix) >= 0; i++) {
            int digit = Character.digit(rest.charAt(i), radix);
            if (value > (Long.MAX_VALUE - digit) / radix) { return isNegative ? Long.MIN_VALUE : Long.MAX_VALUE; }
            value = value * radix + digit;
        }
        return isNegative ? -value : value;
    }
}

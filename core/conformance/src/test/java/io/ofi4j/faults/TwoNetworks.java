package io.ofi4j.faults;

import io.ofi4j.Waiting;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.Pair;
import java.util.ArrayList;
import java.util.List;

/** Two network namespaces with a cable between them, for root on machines with {@code ip}. */
final class TwoNetworks implements AutoCloseable {
    /** Of the test's end, in the block that is set aside for trials. */
    static final String NEAR = "198.18.0.1";
    static final String FAR = "198.18.0.2";

    private final String near = "ofi4j-near-" + ProcessHandle.current().pid();
    private final String far = "ofi4j-far-" + ProcessHandle.current().pid();

    TwoNetworks() { this(0); }

    /**
     * @param bridges how many bridges each has besides, newer than the cable and with the same addresses at both ends,
     *         as containers bring them
     */
    TwoNetworks(int bridges) {
        ip("netns add " + near);
        ip("netns add " + far);
        ip("-n " + near + " link add cable type veth peer name cable netns " + far);
        up(near, NEAR);
        up(far, FAR);
        for (int bridge = 0; bridge < bridges; bridge++) {
            addBridge(near, bridge);
            addBridge(far, bridge);
        }
        awaitUp(near);
        awaitUp(far);
    }

    private static void addBridge(String name, int number) {
        ip("-n " + name + " link add bridge" + number + " type bridge");
        ip("-n " + name + " link add port" + number + " type veth peer name container" + number);
        ip("-n " + name + " link set port" + number + " master bridge" + number);
        ip("-n " + name + " addr add 172." + (17 + number) + ".0.1/16 dev bridge" + number);
        ip("-n " + name + " link set container" + number + " up");
        ip("-n " + name + " link set port" + number + " up");
        ip("-n " + name + " link set bridge" + number + " up");
    }

    /** {@return why there cannot be any, or an empty text} */
    static String obstacle() {
        List<String> output = new ArrayList<>();
        String name = "ofi4j-try-" + ProcessHandle.current().pid();
        if (FaultPeer.exit(List.of("ip", "netns", "add", name), output) != 0) {
            return "network namespaces need root and ip (package iproute2): " + output;
        }
        ip("netns del " + name);
        return "";
    }

    private static void up(String name, String address) {
        ip("-n " + name + " link set lo up");
        ip("-n " + name + " addr add " + address + "/24 dev cable");
        ip("-n " + name + " link set cable up");
    }

    /** The kernel reports a carrier up to a second later, and until then libfabric leaves the cable out. */
    private static void awaitUp(String name) {
        Waiting.BACKOFF.until(() -> {
            List<String> output = new ArrayList<>();
            FaultPeer.exit(List.of("ip", "-n", name, "link", "show", "cable"), output);
            return output.toString().contains("state UP");
        }, Pair.DEADLINE);
    }

    private static void ip(String arguments) {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(arguments.split(" ")));
        FaultPeer.run(command);
    }

    List<String> inNear() { return List.of("ip", "netns", "exec", near); }

    List<String> inFar() { return List.of("ip", "netns", "exec", far); }

    String far() { return far; }

    @Override
    public void close() {
        ip("netns del " + near);
        ip("netns del " + far);
    }
}

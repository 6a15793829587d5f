package io.ofi4j.internal.quirks.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ofi4j.errors.FabricException;
import io.ofi4j.support.FaultPeer;
import io.ofi4j.support.Forked;
import io.ofi4j.support.Pair;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Where /dev/shm takes no files. */
class ShmFilesTest {
    private static final List<String> READ_ONLY = List.of("unshare", "-rm", "sh", "-c",
            "mount -t tmpfs -o ro tmpfs /dev/shm && exec \"$0\" \"$@\"");

    @Test
    void anEndpointIsRefusedWithWhatToDo() {
        List<String> output = new ArrayList<>();
        boolean able = FaultPeer.exit(Stream.concat(READ_ONLY.stream(), Stream.of("true")).toList(), output) == 0;
        assumeTrue(able, () -> "this user may mount nothing: " + output);

        Forked.Result result = Forked.startBehind(READ_ONLY, ReadOnlyFolder.class).await();

        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("fi_enable failed on provider shm", "mount -o remount,rw /dev/shm");
    }

    static final class ReadOnlyFolder {
        private ReadOnlyFolder() {}

        public static void main(String[] arguments) {
            try (Pair pair = new Pair("shm")) {
                throw new AssertionError("opened: " + pair.farEndpoint);
            } catch (FabricException e) {
                System.out.println(e.getMessage());
            }
        }
    }
}

package io.ofi4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.support.Forked;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Posting and polling of the verbs path allocate nothing, once they are compiled. In the virtual machine the second
 * compiler takes a minute or more: this test runs when it is named.
 */
@Timeout(900)
class VerbsAllocationTest {
    /** In a JVM with both compilers: what the first one does not take apart is allocated. */
    @Test
    void operationsAndTheirCompletionsAllocateNothing() {
        List<String> arguments = new ArrayList<>(List.of(Forked.EVERY_COMPILER, "-XX:Tier4InvocationThreshold=1000",
                "-XX:Tier4MinInvocationThreshold=300", "-XX:Tier4CompileThreshold=2000"));
        arguments.addAll(VerbsLink.addresses());
        Forked.Result result = Forked.run(VerbsAllocations.class, arguments.toArray(String[]::new));
        System.out.println(result.output());
        assertThat(result.exit()).as(result.output()).isZero();
        assertThat(result.output()).contains("write 0", "inline write 0", "read 0", "send 0");
    }
}

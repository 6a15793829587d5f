package io.ofi4j.internal.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.bindings.fabric_h;
import io.ofi4j.info.AtomicOperation;
import io.ofi4j.info.Datatype;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Numbers of operations and datatypes are those of the C headers. */
class AtomicConstantsTest {
    private static int inHeaders(Enum<?> constant) throws ReflectiveOperationException {
        return (int) fabric_h.class.getMethod("FI_" + constant.name()).invoke(null);
    }

    @ParameterizedTest
    @EnumSource
    void ofAnOperation(AtomicOperation operation) throws ReflectiveOperationException {
        assertThat(operation.value()).isEqualTo(inHeaders(operation));
    }

    @ParameterizedTest
    @EnumSource
    void ofADatatype(Datatype datatype) throws ReflectiveOperationException {
        assertThat(datatype.value()).isEqualTo(inHeaders(datatype));
    }
}

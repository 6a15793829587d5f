package io.ofi4j.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.ofi4j.Access;
import io.ofi4j.AddressVectorType;
import io.ofi4j.Capability;
import io.ofi4j.CompletionFlags;
import io.ofi4j.CompletionOrder;
import io.ofi4j.DevicePeerToPeer;
import io.ofi4j.EndpointOption;
import io.ofi4j.CompletionFormat;
import io.ofi4j.CounterEvent;
import io.ofi4j.EndpointType;
import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegionMode;
import io.ofi4j.MessageOrder;
import io.ofi4j.OperationFlag;
import io.ofi4j.Peer;
import io.ofi4j.ProgressModel;
import io.ofi4j.ResourceManagement;
import io.ofi4j.ThreadingModel;
import io.ofi4j.TrafficClass;
import io.ofi4j.WaitObject;
import io.ofi4j.bindings.fabric_h;
import io.ofi4j.bindings.fi_alias;
import io.ofi4j.bindings.fi_av_attr;
import io.ofi4j.bindings.fi_context2;
import io.ofi4j.bindings.fi_cntr_attr;
import io.ofi4j.bindings.fi_cq_attr;
import io.ofi4j.bindings.fi_cq_data_entry;
import io.ofi4j.bindings.fi_cq_entry;
import io.ofi4j.bindings.fi_cq_err_entry;
import io.ofi4j.bindings.fi_cq_msg_entry;
import io.ofi4j.bindings.fi_cq_tagged_entry;
import io.ofi4j.bindings.fi_device_attr;
import io.ofi4j.bindings.fi_domain_attr;
import io.ofi4j.bindings.fi_ep_attr;
import io.ofi4j.bindings.fi_eq_attr;
import io.ofi4j.bindings.fi_eq_cm_entry;
import io.ofi4j.bindings.fi_eq_entry;
import io.ofi4j.bindings.fi_eq_err_entry;
import io.ofi4j.bindings.fi_fabric_attr;
import io.ofi4j.bindings.fi_info;
import io.ofi4j.bindings.fi_mr_attr;
import io.ofi4j.bindings.fi_mr_map_raw;
import io.ofi4j.bindings.fi_mr_modify;
import io.ofi4j.bindings.fi_mr_raw_attr;
import io.ofi4j.bindings.fi_msg;
import io.ofi4j.bindings.fi_msg_rma;
import io.ofi4j.bindings.fi_ops;
import io.ofi4j.bindings.fi_ops_av;
import io.ofi4j.bindings.fi_ops_cm;
import io.ofi4j.bindings.fi_ops_cntr;
import io.ofi4j.bindings.fi_ops_cq;
import io.ofi4j.bindings.fi_ops_domain;
import io.ofi4j.bindings.fi_ops_ep;
import io.ofi4j.bindings.fi_ops_eq;
import io.ofi4j.bindings.fi_ops_fabric;
import io.ofi4j.bindings.fi_ops_mr;
import io.ofi4j.bindings.fi_ops_msg;
import io.ofi4j.bindings.fi_ops_rma;
import io.ofi4j.bindings.fi_param;
import io.ofi4j.bindings.fi_rma_iov;
import io.ofi4j.bindings.fi_rx_attr;
import io.ofi4j.bindings.fi_tx_attr;
import io.ofi4j.bindings.fid;
import io.ofi4j.bindings.fid_av;
import io.ofi4j.bindings.fid_cntr;
import io.ofi4j.bindings.fid_cq;
import io.ofi4j.bindings.fid_domain;
import io.ofi4j.bindings.fid_ep;
import io.ofi4j.bindings.fid_eq;
import io.ofi4j.bindings.fid_fabric;
import io.ofi4j.bindings.fid_mr;
import io.ofi4j.bindings.fid_nic;
import io.ofi4j.bindings.iovec;
import io.ofi4j.bindings.fid_pep;
import io.ofi4j.bindings.libc.sigaction;
import java.io.IOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.UnionLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compiles a C program against the libfabric headers of this machine, whichever version they are, and compares every size,
 * offset and constant that this module uses. Needs gcc and libfabric-dev; without them it fails.
 */
class HeaderProbeTest {
    private static final List<GroupLayout> LAYOUTS = List.of(fi_info.layout(), fi_tx_attr.layout(), fi_rx_attr.layout(),
            fi_ep_attr.layout(), fi_domain_attr.layout(), fi_fabric_attr.layout(), fid.layout(), fid_fabric.layout(),
            fid_domain.layout(), fid_av.layout(), fid_cq.layout(), fid_ep.layout(), fid_mr.layout(), fi_ops.layout(),
            fi_ops_fabric.layout(), fi_ops_domain.layout(), fi_ops_av.layout(), fi_ops_mr.layout(), fi_ops_cq.layout(),
            fi_ops_cntr.layout(), fid_cntr.layout(), fi_ops_cm.layout(), fi_ops_rma.layout(), fi_msg_rma.layout(),
            fi_rma_iov.layout(), fi_cq_attr.layout(), fi_av_attr.layout(), fi_cntr_attr.layout(),
            fi_cq_data_entry.layout(), fi_cq_entry.layout(), fi_cq_msg_entry.layout(), fi_cq_tagged_entry.layout(),
            fi_cq_err_entry.layout(), fi_context2.layout(), fi_param.layout(), fi_mr_attr.layout(),
            fi_mr_modify.layout(), fi_mr_raw_attr.layout(), fi_mr_map_raw.layout(), iovec.layout(), fi_ops_ep.layout(),
            fi_alias.layout(), fid_eq.layout(), fid_pep.layout(), fi_ops_eq.layout(), fi_eq_attr.layout(),
            fi_eq_entry.layout(), fi_eq_cm_entry.layout(), fi_eq_err_entry.layout(), fi_msg.layout(),
            fi_ops_msg.layout(), fid_nic.layout(), fi_device_attr.layout());

    /** What came with libfabric 2.0: behind what 1.x has, and never touched where 1.x runs. */
    private static final Set<String> SINCE_2 = Set.of("fi_domain_attr.max_ep_auth_key", "fi_domain_attr.max_group_id",
            "fi_domain_attr.progress", "fi_cq_err_entry.src_addr", "fi_ops_av.insert_auth_key",
            "fi_ops_av.lookup_auth_key", "fi_ops_av.set_user_id", "FI_PROGRESS_CONTROL_UNIFIED", "fi_mr_attr.dmabuf",
            "fi_mr_attr.hmem_data", "fi_mr_attr.page_size", "fi_mr_attr.base_mr", "fi_mr_attr.sub_mr_cnt",
            "FI_OPT_CUDA_API_PERMITTED", "FI_OPT_SHARED_MEMORY_PERMITTED", "FI_OPT_MAX_MSG_SIZE",
            "FI_OPT_MAX_TAGGED_SIZE", "FI_OPT_MAX_RMA_SIZE", "FI_OPT_MAX_ATOMIC_SIZE", "FI_OPT_INJECT_MSG_SIZE",
            "FI_OPT_INJECT_TAGGED_SIZE", "FI_OPT_INJECT_RMA_SIZE", "FI_OPT_INJECT_ATOMIC_SIZE",
            "FI_TAGGED_DIRECTED_RECV", "FI_TAGGED_MULTI_RECV", "FI_EXACT_DIRECTED_RECV");
    private static final Set<String> GREW_WITH_2 = Set.of("fi_domain_attr", "fi_cq_err_entry", "fi_ops_av",
            "fi_mr_attr", "fi_mr_modify");

    @TempDir
    private Path folder;

    @Test
    void everySizeOffsetAndConstantIsWhatTheHeadersSay() throws Exception {
        Libfabric.load();
        Map<String, Long> ours = new LinkedHashMap<>();
        List<String> program = new ArrayList<>();
        structs(ours, program);
        constants().forEach((name, value) -> {
            ours.put(name, value);
            print(program, name, name);
        });

        Map<String, Long> theirs = run(program);

        boolean two = theirs.get("FI_MAJOR_VERSION") >= 2;
        assertThat(theirs.get("sizeof(struct fi_context2)")).isLessThanOrEqualTo(ContextSlab.CONTEXT_SIZE);
        ours.forEach((name, value) -> {
            if (!two && SINCE_2.contains(name)) {
                assertThat(theirs).doesNotContainKey(name);
            } else if (!two && GREW_WITH_2.stream().anyMatch(struct -> name.equals("sizeof(struct " + struct + ")"))) {
                assertThat(theirs.get(name)).as(name).isLessThan(value);
            } else {
                assertThat(theirs.get(name)).as(name).isEqualTo(value);
            }
        });
        assertThat(ours).hasSizeGreaterThan(250);
    }

    private static void structs(Map<String, Long> ours, List<String> program) {
        for (GroupLayout layout : LAYOUTS) {
            String struct = layout.name().orElseThrow();
            String size = "sizeof(struct " + struct + ")";
            ours.put(size, layout.byteSize());
            print(program, size, size);
            fields(layout, 0).forEach((field, offset) -> {
                String name = struct + "." + field;
                ours.put(name, offset);
                print(program, name, "offsetof(struct " + struct + ", " + field + ")");
            });
        }
        ours.put("sizeof(struct sigaction)", sigaction.layout().byteSize());
        print(program, "sizeof(struct sigaction)", "sizeof(struct sigaction)");
        ours.put("sa_flags", sigaction.sa_flags$offset());
        print(program, "sa_flags", "offsetof(struct sigaction, sa_flags)");
        ours.put("sa_mask", sigaction.sa_mask$offset());
        print(program, "sa_mask", "offsetof(struct sigaction, sa_mask)");
    }

    /** The fields of a struct and where they are; those of anonymous unions count as the struct's. */
    private static Map<String, Long> fields(GroupLayout layout, long base) {
        Map<String, Long> fields = new LinkedHashMap<>();
        long offset = base;
        for (MemoryLayout member : layout.memberLayouts()) {
            String name = member.name().orElse("");
            if (member instanceof UnionLayout union && (name.isEmpty() || name.contains("$"))) {
                fields.putAll(fields(union, offset));
            } else if (!name.isEmpty()) {
                fields.put(name, offset);
            }
            offset += layout instanceof UnionLayout ? 0 : member.byteSize();
        }
        return fields;
    }

    private static Map<String, Long> constants() throws IllegalAccessException {
        Map<String, Long> constants = new LinkedHashMap<>();
        for (Class<?> type : List.of(FabricConstants.class, CompletionFlags.class, Errno.class)) {
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) && field.getName().matches("[A-Z0-9_]+")) {
                    constants.put(type == FabricConstants.class ? field.getName() : "FI_" + field.getName(),
                            field.getLong(null));
                }
            }
        }
        for (Capability one : Capability.values()) {
            constants.put("FI_" + one, one.bit());
        }
        for (Access one : Access.values()) {
            constants.put("FI_" + one, one.bit());
        }
        for (OperationFlag one : OperationFlag.values()) {
            constants.put("FI_" + one, one.bit());
        }
        for (MemoryRegionMode one : MemoryRegionMode.values()) {
            constants.put("FI_MR_" + one, (long) one.bit());
        }
        for (EndpointType one : EndpointType.values()) {
            put(constants, "FI_EP_", one, one.value());
        }
        for (CompletionFormat one : CompletionFormat.values()) {
            constants.put("FI_CQ_FORMAT_" + one.name().replace("MESSAGE", "MSG"), (long) one.value());
        }
        for (CounterEvent one : CounterEvent.values()) {
            constants.put("FI_" + one.name().replace("RECEIVE", "RECV"), one.bit());
        }
        for (ThreadingModel one : ThreadingModel.values()) {
            put(constants, "FI_THREAD_", one, one.value());
        }
        for (ProgressModel one : ProgressModel.values()) {
            put(constants, "FI_PROGRESS_", one, one.value());
        }
        for (AddressVectorType one : AddressVectorType.values()) {
            put(constants, "FI_AV_", one, one.value());
        }
        for (ResourceManagement one : ResourceManagement.values()) {
            put(constants, "FI_RM_", one, one.value());
        }
        for (TrafficClass one : TrafficClass.values()) {
            put(constants, "FI_TC_", one, one.value());
        }
        for (MessageOrder one : MessageOrder.values()) {
            constants.put("FI_ORDER_" + one, one.bit());
        }
        constants.put("FI_ORDER_STRICT", CompletionOrder.STRICT.bits());
        constants.put("FI_ORDER_DATA", CompletionOrder.DATA.bits());
        constants.put("FI_SYNC_ERR", fabric_h.FI_SYNC_ERR());
        for (DevicePeerToPeer one : DevicePeerToPeer.values()) {
            constants.put("FI_HMEM_P2P_" + one, (long) one.ordinal());
        }
        for (Field field : EndpointOption.class.getFields()) {
            EndpointOption<?> option = (EndpointOption<?>) field.get(null);
            constants.put("FI_OPT_" + option, (long) option.number());
        }
        constants.put("FI_OPT_ENDPOINT", (long) fabric_h.FI_OPT_ENDPOINT());
        constants.put("FI_ALIAS", (long) fabric_h.FI_ALIAS());
        constants.put("FI_GETOPSFLAG", (long) fabric_h.FI_GETOPSFLAG());
        constants.put("FI_SETOPSFLAG", (long) fabric_h.FI_SETOPSFLAG());
        for (WaitObject one : WaitObject.values()) {
            put(constants, "FI_WAIT_", one, one.value());
        }
        constants.put("FI_TRANSMIT", 1L << 11);
        constants.put("FI_ENABLE", (long) fabric_h.FI_ENABLE());
        constants.put("FI_GET_RAW_MR", (long) fabric_h.FI_GET_RAW_MR());
        constants.put("FI_MAP_RAW_MR", (long) fabric_h.FI_MAP_RAW_MR());
        constants.put("FI_UNMAP_KEY", (long) fabric_h.FI_UNMAP_KEY());
        constants.put("FI_REFRESH", (long) fabric_h.FI_REFRESH());
        constants.put("FI_KEY_NOTAVAIL", -1L);
        constants.put("FI_AFFINITY", fabric_h.FI_AFFINITY());
        constants.put("FI_ADDR_NOTAVAIL", Peer.ADDRESS_NOT_AVAILABLE);
        constants.put("FI_CNTR_EVENTS_COMP", (long) fabric_h.FI_CNTR_EVENTS_COMP());
        constants.put("FI_TYPE_INFO", (long) fabric_h.FI_TYPE_INFO());
        constants.put("SOL_SOCKET", (long) SocketOptions.SOL_SOCKET);
        constants.put("SO_RCVBUF", (long) SocketOptions.SO_RCVBUF);
        constants.put("SO_RCVLOWAT", (long) SocketOptions.SO_RCVLOWAT);
        constants.put("SO_PROTOCOL", (long) SocketOptions.SO_PROTOCOL);
        constants.put("IPPROTO_TCP", (long) SocketOptions.IPPROTO_TCP);
        constants.put("IPPROTO_UDP", (long) SocketOptions.IPPROTO_UDP);
        constants.put("SO_ATTACH_FILTER", (long) SocketOptions.SO_ATTACH_FILTER);
        constants.put("MSG_DONTWAIT", (long) DatagramFilter.MSG_DONTWAIT);
        constants.put("F_GETFD", (long) Descriptors.F_GETFD);
        constants.put("FIONREAD", UnreadBytes.FIONREAD);
        constants.put("_SC_OPEN_MAX", (long) Descriptors.SC_OPEN_MAX);
        return constants;
    }

    private static void put(Map<String, Long> constants, String prefix, Enum<?> one, int value) {
        if (!one.name().equals("OTHER")) {
            constants.put(prefix + one.name().replace("UNSPECIFIED", "UNSPEC"), (long) value);
        }
    }

    private static void print(List<String> program, String name, String expression) {
        String line = "printf(\"%s=%lld\\n\", \"" + name + "\", (long long) (" + expression + "));";
        program.add(SINCE_2.contains(name) ? "#if FI_MAJOR_VERSION >= 2\n" + line + "\n#endif" : line);
    }

    private Map<String, Long> run(List<String> program) throws IOException, InterruptedException {
        Path source = folder.resolve("probe.c");
        Files.writeString(source, """
                #define _GNU_SOURCE
                #include <fcntl.h>
                #include <netinet/in.h>
                #include <signal.h>
                #include <stddef.h>
                #include <stdio.h>
                #include <sys/ioctl.h>
                #include <sys/socket.h>
                #include <unistd.h>
                #include <rdma/fabric.h>
                #include <rdma/fi_cm.h>
                #include <rdma/fi_domain.h>
                #include <rdma/fi_endpoint.h>
                #include <rdma/fi_eq.h>
                #include <rdma/fi_errno.h>
                #include <rdma/fi_rma.h>
                int main(void) {
                printf("FI_MAJOR_VERSION=%d\\n", FI_MAJOR_VERSION);
                """ + String.join("\n", program) + "\nreturn 0;\n}\n");
        Path binary = folder.resolve("probe");
        execute("gcc", "-w", "-o", binary.toString(), source.toString());
        Map<String, Long> values = new LinkedHashMap<>();
        execute(binary.toString()).lines().forEach(line -> {
            int equals = line.lastIndexOf('=');
            values.put(line.substring(0, equals), Long.parseLong(line.substring(equals + 1)));
        });
        return values;
    }

    private String execute(String... command) throws IOException, InterruptedException {
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(command[0] + " ended").isTrue();
        String text = Files.readString(output);
        assertThat(process.exitValue()).as(String.join(" ", command) + "\n" + text).isZero();
        return text;
    }
}

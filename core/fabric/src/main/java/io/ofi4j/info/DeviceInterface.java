package io.ofi4j.info;

/** The kind of device that memory belongs to; {@code enum fi_hmem_iface}, fi_mr(3). */
public enum DeviceInterface {
    /** Memory of the host. */
    SYSTEM,
    /** Memory of NVIDIA's devices, through the CUDA driver. */
    CUDA,
    /** Memory of AMD's devices, through ROCr. */
    ROCR,
    /** Memory of Intel's devices, through Level Zero. */
    ZE,
    /** Memory of AWS Neuron devices. */
    NEURON,
    /** Memory of Habana's devices, through SynapseAI. */
    SYNAPSEAI
}

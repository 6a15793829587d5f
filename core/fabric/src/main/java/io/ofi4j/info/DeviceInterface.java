package io.ofi4j.info;

/** Whose memory a region is; {@code enum fi_hmem_iface}, fi_mr(3), in its order. */
public enum DeviceInterface {
    /** The machine's own. */
    SYSTEM,
    /** NVIDIA's, by the CUDA driver. */
    CUDA,
    /** AMD's, by ROCr. */
    ROCR,
    /** Intel's, by Level Zero. */
    ZE,
    /** AWS Neuron's. */
    NEURON,
    /** Habana's, by SynapseAI. */
    SYNAPSEAI
}

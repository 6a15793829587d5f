package io.ofi4j.conformance;

/** What the near half of a {@link Pair} asks of the far half, as the first word of a line; its numbers follow. */
enum FarQuestion {
    /** Open an endpoint, or listen: format of completions and capabilities. Answer: the address. */
    OPEN,
    /** Accept the connection that was asked for. */
    ACCEPT,
    /** Allocate memory: length and access. Answer: its number and the remote region. */
    ALLOCATE,
    /** Fill memory with the bytes of a {@link Pattern}: region, offset, length, number. */
    FILL,
    /** Compare memory with the bytes of a pattern, as FILL. Answer: the first other place and its byte, or -1. */
    MISMATCH,
    /** Answer the byte of a region at an offset. */
    BYTE,
    /** Receive into memory side by side, with successive tokens: region, offset, length of each, first token, count. */
    RECEIVE,
    /** The same with successive tags, the first of which comes last. */
    RECEIVE_TAGGED,
    /** From now on compare a region with the pattern of each data that comes with a write: region, length. */
    WATCH,
    /** From now on compare a region with the pattern of the number in another: flag, region, length. */
    WATCH_FLAG,
    /** Answer what has completed since the last such question, and what was seen of what is watched. */
    FETCH,
    /** Add 1 to a remote number: region of the results, remote region, the near address, how often. Answer: done. */
    SUMS,
    /** Close a region. */
    CLOSE_REGION,
    /** Close the endpoint alone. */
    CLOSE_ENDPOINT,
    /** Close all. */
    CLOSE
}

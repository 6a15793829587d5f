package io.ofi4j.durable;

/** Error numbers of fi_errno(3) that saves end with. */
final class Errno {
    static final int EPERM = 1;
    static final int EINTR = 4;
    static final int EIO = 5;
    static final int EACCES = 13;
    static final int EINVAL = 22;
    static final int ENOSPC = 28;
    static final int EPROTO = 71;
    static final int EOPNOTSUPP = 95;
    static final int ECANCELED = 125;
    static final int ENOKEY = 126;
    static final int EKEYREJECTED = 129;

    private Errno() {}
}

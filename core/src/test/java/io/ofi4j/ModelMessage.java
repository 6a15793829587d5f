package io.ofi4j;

import io.ofi4j.ModelState.Kind;
import io.ofi4j.ModelState.Op;

/** The vectored forms of operations and those with a message, which the model cannot tell from the simple ones. */
final class ModelMessages {
    private ModelMessages() {
    }

    static boolean call(boolean blocking, Rma rma, Op op, Peer peer, RemoteRegion there) {
        RmaMessage message = rma.message().peer(peer).remote(there, op.remoteOffset(), op.length());
        MemoryRegion local = op.local().region;
        if (op.length() > 1 && message.localLimit() > 1) {
            long cut = 1 + op.token() % (op.length() - 1);
            message.local(local, op.offset(), cut).local(local, op.offset() + cut, op.length() - cut);
        } else {
            message.local(local, op.offset(), op.length());
        }
        boolean vectored = op.token() % 2 == 0;
        if (!blocking) {
            return op.kind() == Kind.READ
                    ? vectored ? message.tryReadVector(op.token()) : message.tryRead(op.token())
                    : vectored ? message.tryWriteVector(op.token()) : message.tryWrite(op.token());
        }
        if (op.kind() == Kind.READ) {
            if (vectored) {
                message.readVector(op.token());
            } else {
                message.read(op.token());
            }
        } else if (vectored) {
            message.writeVector(op.token());
        } else {
            message.write(op.token());
        }
        return true;
    }
}

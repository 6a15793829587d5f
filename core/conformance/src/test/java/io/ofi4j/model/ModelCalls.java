package io.ofi4j.model;

import io.ofi4j.Libfabric;
import io.ofi4j.MemoryRegion;
import io.ofi4j.Peer;
import io.ofi4j.RemoteRegion;
import io.ofi4j.Rma;
import io.ofi4j.PreparedRma;
import io.ofi4j.info.EndpointType;
import io.ofi4j.info.FabricInfo;
import io.ofi4j.model.ModelState.Kind;
import io.ofi4j.model.ModelState.Op;
import io.ofi4j.model.ModelState.Piece;

/** The calls that take everything at once. */
final class ModelCalls {
    private ModelCalls() {}

    /**
     * Rule: tcp of libfabric 1.x counts no inject over a connection: tcpx_rma_inject_common does not say what it is.
     */
    static boolean isCounted(Kind kind, FabricInfo info) {
        return !(kind.isInject() && info.provider().equals("tcp") && info.endpoint().type() == EndpointType.MSG
                && Libfabric.load().version().major() < 2);
    }

    /** Whether an operation of one piece was accepted; one that blocks is, or throws. */
    static boolean call(boolean blocking, Rma rma, Op op, Peer peer, RemoteRegion there) {
        Piece piece = op.pieces().getFirst();
        MemoryRegion local = piece.local().region;
        long at = piece.offset();
        long thereAt = piece.remoteOffset();
        long length = piece.length();
        if (!blocking) {
            return switch (op.kind()) {
                case WRITE -> rma.tryWrite(local, at, length, peer, there, thereAt, op.token());
                case READ -> rma.tryRead(local, at, length, peer, there, thereAt, op.token());
                case INJECT -> rma.tryInjectWrite(local, at, length, peer, there, thereAt);
                case WRITE_DATA -> rma.tryWriteData(local, at, length, op.data(), peer, there, thereAt, op.token());
                case INJECT_DATA -> rma.tryInjectWriteData(local, at, length, op.data(), peer, there, thereAt);
            };
        }
        switch (op.kind()) {
            case WRITE -> rma.write(local.slice(at, length), peer, there.slice(thereAt, length), op.token());
            case READ -> rma.read(local.slice(at, length), peer, there.slice(thereAt, length), op.token());
            case INJECT -> rma.injectWrite(local.slice(at, length), peer, there.slice(thereAt, length));
            case WRITE_DATA ->
                rma.writeData(local.slice(at, length), op.data(), peer, there.slice(thereAt, length), op.token());
            case INJECT_DATA ->
                rma.injectWriteData(local.slice(at, length), op.data(), peer, there.slice(thereAt, length));
        }
        return true;
    }

    /** As {@link #call}, of a prepared operation. */
    static boolean call(boolean blocking, PreparedRma message, boolean isRead, long token) {
        if (!blocking) { return isRead ? message.tryRead(token) : message.tryWrite(token); }
        if (isRead) {
            message.read(token);
        } else {
            message.write(token);
        }
        return true;
    }
}

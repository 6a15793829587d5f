package io.ofi4j.jmh;

import io.ofi4j.info.OperationFlag;
import io.ofi4j.PreparedRma;

/** The public API with operations that were prepared once and are posted again and again. */
public class PreparedLayer extends PublicLayer {
    private PreparedRma transfer;
    private PreparedRma inject;

    @Override
    void open() {
        super.open();
        transfer = rma.prepare().local(local, 0, size).remote(remote, 0, size).peer(peer);
        inject = rma.prepare().local(local, 0, size).remote(remote, 0, size).peer(peer).flags(OperationFlag.INJECT);
    }

    @Override
    public long write() {
        while (!transfer.tryWrite(TOKEN)) {
            makeProgress();
        }
        return await();
    }

    @Override
    public long read() {
        while (!transfer.tryRead(TOKEN)) {
            makeProgress();
        }
        return await();
    }

    /** Unlike a plain inject this gives a completion, which the next progress takes. */
    @Override
    void postInject() {
        while (!inject.tryWrite(TOKEN)) {
            makeProgress();
        }
    }
}

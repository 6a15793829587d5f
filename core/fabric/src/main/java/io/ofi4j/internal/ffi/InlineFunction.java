package io.ofi4j.internal.ffi;

import io.ofi4j.bindings.fi_ops;
import io.ofi4j.bindings.fi_ops_atomic;
import io.ofi4j.bindings.fi_ops_av;
import io.ofi4j.bindings.fi_ops_av_set;
import io.ofi4j.bindings.fi_ops_cm;
import io.ofi4j.bindings.fi_ops_cntr;
import io.ofi4j.bindings.fi_ops_collective;
import io.ofi4j.bindings.fi_ops_cq;
import io.ofi4j.bindings.fi_ops_domain;
import io.ofi4j.bindings.fi_ops_ep;
import io.ofi4j.bindings.fi_ops_eq;
import io.ofi4j.bindings.fi_ops_fabric;
import io.ofi4j.bindings.fi_ops_mr;
import io.ofi4j.bindings.fi_ops_msg;
import io.ofi4j.bindings.fi_ops_rma;
import io.ofi4j.bindings.fi_ops_tagged;
import io.ofi4j.bindings.fid;
import io.ofi4j.bindings.fid_av;
import io.ofi4j.bindings.fid_av_set;
import io.ofi4j.bindings.fid_cntr;
import io.ofi4j.bindings.fid_cq;
import io.ofi4j.bindings.fid_domain;
import io.ofi4j.bindings.fid_ep;
import io.ofi4j.bindings.fid_eq;
import io.ofi4j.bindings.fid_fabric;
import io.ofi4j.internal.os.NativeWords;
import java.lang.foreign.MemorySegment;

/**
 * The functions that libfabric's headers define {@code static inline}, and what each one calls: an entry of an ops
 * table of its first argument. {@code fi_write}, for one, is {@code ep->rma->write}. The library has no symbols for
 * them. Every {@code struct fid_*} begins with its {@code struct fid}, and the structs of active and passive
 * endpoints begin with the same fields.
 */
@SuppressWarnings("restricted")
enum InlineFunction {
    /** Of every object: fi_ep_bind, fi_mr_bind, fi_scalable_ep_bind and the like. */
    bind(fid.ops$offset(), fi_ops.bind$offset()),
    fi_close(fid.ops$offset(), fi_ops.close$offset()),
    /** Also fi_enable, fi_ep_alias, fi_mr_refresh and others, each with a command of its own. */
    fi_control(fid.ops$offset(), fi_ops.control$offset()),
    fi_open_ops(fid.ops$offset(), fi_ops.ops_open$offset()),

    fi_domain(fid_fabric.ops$offset(), fi_ops_fabric.domain$offset()),
    fi_eq_open(fid_fabric.ops$offset(), fi_ops_fabric.eq_open$offset()),
    fi_passive_ep(fid_fabric.ops$offset(), fi_ops_fabric.passive_ep$offset()),
    fi_trywait(fid_fabric.ops$offset(), fi_ops_fabric.trywait$offset()),

    fi_av_open(fid_domain.ops$offset(), fi_ops_domain.av_open$offset()),
    fi_cntr_open(fid_domain.ops$offset(), fi_ops_domain.cntr_open$offset()),
    fi_cq_open(fid_domain.ops$offset(), fi_ops_domain.cq_open$offset()),
    fi_endpoint(fid_domain.ops$offset(), fi_ops_domain.endpoint$offset()),
    fi_query_atomic(fid_domain.ops$offset(), fi_ops_domain.query_atomic$offset()),
    fi_query_collective(fid_domain.ops$offset(), fi_ops_domain.query_collective$offset()),
    fi_scalable_ep(fid_domain.ops$offset(), fi_ops_domain.scalable_ep$offset()),
    fi_srx_context(fid_domain.ops$offset(), fi_ops_domain.srx_ctx$offset()),
    fi_stx_context(fid_domain.ops$offset(), fi_ops_domain.stx_ctx$offset()),

    fi_mr_reg(fid_domain.mr$offset(), fi_ops_mr.reg$offset()),
    fi_mr_regattr(fid_domain.mr$offset(), fi_ops_mr.regattr$offset()),
    fi_mr_regv(fid_domain.mr$offset(), fi_ops_mr.regv$offset()),

    fi_av_insert(fid_av.ops$offset(), fi_ops_av.insert$offset()),
    fi_av_insertsvc(fid_av.ops$offset(), fi_ops_av.insertsvc$offset()),
    fi_av_insertsym(fid_av.ops$offset(), fi_ops_av.insertsym$offset()),
    fi_av_lookup(fid_av.ops$offset(), fi_ops_av.lookup$offset()),
    fi_av_remove(fid_av.ops$offset(), fi_ops_av.remove$offset()),
    fi_av_set(fid_av.ops$offset(), fi_ops_av.av_set$offset()),
    fi_av_set_user_id(fid_av.ops$offset(), fi_ops_av.set_user_id$offset()),
    fi_av_straddr(fid_av.ops$offset(), fi_ops_av.straddr$offset()),
    fi_av_set_addr(fid_av_set.ops$offset(), fi_ops_av_set.addr$offset()),
    fi_av_set_insert(fid_av_set.ops$offset(), fi_ops_av_set.insert$offset()),

    fi_cntr_add(fid_cntr.ops$offset(), fi_ops_cntr.add$offset()),
    fi_cntr_adderr(fid_cntr.ops$offset(), fi_ops_cntr.adderr$offset()),
    fi_cntr_read(fid_cntr.ops$offset(), fi_ops_cntr.read$offset()),
    fi_cntr_readerr(fid_cntr.ops$offset(), fi_ops_cntr.readerr$offset()),
    fi_cntr_set(fid_cntr.ops$offset(), fi_ops_cntr.set$offset()),
    fi_cntr_seterr(fid_cntr.ops$offset(), fi_ops_cntr.seterr$offset()),
    fi_cntr_wait(fid_cntr.ops$offset(), fi_ops_cntr.wait$offset()),

    fi_cq_read(fid_cq.ops$offset(), fi_ops_cq.read$offset()),
    fi_cq_readerr(fid_cq.ops$offset(), fi_ops_cq.readerr$offset()),
    fi_cq_readfrom(fid_cq.ops$offset(), fi_ops_cq.readfrom$offset()),
    fi_cq_sread(fid_cq.ops$offset(), fi_ops_cq.sread$offset()),
    fi_cq_sreadfrom(fid_cq.ops$offset(), fi_ops_cq.sreadfrom$offset()),
    fi_cq_strerror(fid_cq.ops$offset(), fi_ops_cq.strerror$offset()),

    fi_eq_read(fid_eq.ops$offset(), fi_ops_eq.read$offset()),
    fi_eq_readerr(fid_eq.ops$offset(), fi_ops_eq.readerr$offset()),
    fi_eq_strerror(fid_eq.ops$offset(), fi_ops_eq.strerror$offset()),
    fi_eq_write(fid_eq.ops$offset(), fi_ops_eq.write$offset()),

    fi_cancel(fid_ep.ops$offset(), fi_ops_ep.cancel$offset()),
    fi_getopt(fid_ep.ops$offset(), fi_ops_ep.getopt$offset()),
    fi_rx_context(fid_ep.ops$offset(), fi_ops_ep.rx_ctx$offset()),
    fi_rx_size_left(fid_ep.ops$offset(), fi_ops_ep.rx_size_left$offset()),
    fi_setopt(fid_ep.ops$offset(), fi_ops_ep.setopt$offset()),
    fi_tx_context(fid_ep.ops$offset(), fi_ops_ep.tx_ctx$offset()),
    fi_tx_size_left(fid_ep.ops$offset(), fi_ops_ep.tx_size_left$offset()),

    fi_accept(fid_ep.cm$offset(), fi_ops_cm.accept$offset()),
    fi_connect(fid_ep.cm$offset(), fi_ops_cm.connect$offset()),
    fi_getname(fid_ep.cm$offset(), fi_ops_cm.getname$offset()),
    fi_getpeer(fid_ep.cm$offset(), fi_ops_cm.getpeer$offset()),
    fi_join(fid_ep.cm$offset(), fi_ops_cm.join$offset()),
    fi_join_collective(fid_ep.cm$offset(), fi_ops_cm.join$offset()),
    fi_listen(fid_ep.cm$offset(), fi_ops_cm.listen$offset()),
    fi_reject(fid_ep.cm$offset(), fi_ops_cm.reject$offset()),
    fi_setname(fid_ep.cm$offset(), fi_ops_cm.setname$offset()),
    fi_shutdown(fid_ep.cm$offset(), fi_ops_cm.shutdown$offset()),

    fi_inject(fid_ep.msg$offset(), fi_ops_msg.inject$offset()),
    fi_injectdata(fid_ep.msg$offset(), fi_ops_msg.injectdata$offset()),
    fi_recv(fid_ep.msg$offset(), fi_ops_msg.recv$offset()),
    fi_recvmsg(fid_ep.msg$offset(), fi_ops_msg.recvmsg$offset()),
    fi_recvv(fid_ep.msg$offset(), fi_ops_msg.recvv$offset()),
    fi_send(fid_ep.msg$offset(), fi_ops_msg.send$offset()),
    fi_senddata(fid_ep.msg$offset(), fi_ops_msg.senddata$offset()),
    fi_sendmsg(fid_ep.msg$offset(), fi_ops_msg.sendmsg$offset()),
    fi_sendv(fid_ep.msg$offset(), fi_ops_msg.sendv$offset()),

    fi_inject_write(fid_ep.rma$offset(), fi_ops_rma.inject$offset()),
    fi_inject_writedata(fid_ep.rma$offset(), fi_ops_rma.injectdata$offset()),
    fi_read(fid_ep.rma$offset(), fi_ops_rma.read$offset()),
    fi_readmsg(fid_ep.rma$offset(), fi_ops_rma.readmsg$offset()),
    fi_readv(fid_ep.rma$offset(), fi_ops_rma.readv$offset()),
    fi_write(fid_ep.rma$offset(), fi_ops_rma.write$offset()),
    fi_writedata(fid_ep.rma$offset(), fi_ops_rma.writedata$offset()),
    fi_writemsg(fid_ep.rma$offset(), fi_ops_rma.writemsg$offset()),
    fi_writev(fid_ep.rma$offset(), fi_ops_rma.writev$offset()),

    fi_tinject(fid_ep.tagged$offset(), fi_ops_tagged.inject$offset()),
    fi_tinjectdata(fid_ep.tagged$offset(), fi_ops_tagged.injectdata$offset()),
    fi_trecv(fid_ep.tagged$offset(), fi_ops_tagged.recv$offset()),
    fi_trecvmsg(fid_ep.tagged$offset(), fi_ops_tagged.recvmsg$offset()),
    fi_trecvv(fid_ep.tagged$offset(), fi_ops_tagged.recvv$offset()),
    fi_tsend(fid_ep.tagged$offset(), fi_ops_tagged.send$offset()),
    fi_tsenddata(fid_ep.tagged$offset(), fi_ops_tagged.senddata$offset()),
    fi_tsendmsg(fid_ep.tagged$offset(), fi_ops_tagged.sendmsg$offset()),
    fi_tsendv(fid_ep.tagged$offset(), fi_ops_tagged.sendv$offset()),

    fi_atomic(fid_ep.atomic$offset(), fi_ops_atomic.write$offset()),
    fi_atomicmsg(fid_ep.atomic$offset(), fi_ops_atomic.writemsg$offset()),
    fi_atomicv(fid_ep.atomic$offset(), fi_ops_atomic.writev$offset()),
    fi_atomicvalid(fid_ep.atomic$offset(), fi_ops_atomic.writevalid$offset()),
    fi_compare_atomic(fid_ep.atomic$offset(), fi_ops_atomic.compwrite$offset()),
    fi_compare_atomicmsg(fid_ep.atomic$offset(), fi_ops_atomic.compwritemsg$offset()),
    fi_compare_atomicv(fid_ep.atomic$offset(), fi_ops_atomic.compwritev$offset()),
    fi_compare_atomicvalid(fid_ep.atomic$offset(), fi_ops_atomic.compwritevalid$offset()),
    fi_fetch_atomic(fid_ep.atomic$offset(), fi_ops_atomic.readwrite$offset()),
    fi_fetch_atomicmsg(fid_ep.atomic$offset(), fi_ops_atomic.readwritemsg$offset()),
    fi_fetch_atomicv(fid_ep.atomic$offset(), fi_ops_atomic.readwritev$offset()),
    fi_fetch_atomicvalid(fid_ep.atomic$offset(), fi_ops_atomic.readwritevalid$offset()),
    fi_inject_atomic(fid_ep.atomic$offset(), fi_ops_atomic.inject$offset()),

    fi_allgather(fid_ep.collective$offset(), fi_ops_collective.allgather$offset()),
    fi_allreduce(fid_ep.collective$offset(), fi_ops_collective.allreduce$offset()),
    fi_barrier(fid_ep.collective$offset(), fi_ops_collective.barrier$offset()),
    fi_broadcast(fid_ep.collective$offset(), fi_ops_collective.broadcast$offset()),
    fi_scatter(fid_ep.collective$offset(), fi_ops_collective.scatter$offset());

    /** Where the object's struct has the pointer to the table. */
    final long table;
    /** Where the table has the pointer to the function. */
    final long entry;

    InlineFunction(long table, long entry) {
        this.table = table;
        this.entry = entry;
    }

    /** FI_CHECK_OP: the function of an object; null if its provider has no such table or entry. */
    MemorySegment find(Handle object) {
        long function = address(object);
        return function == 0 ? null : MemorySegment.ofAddress(function);
    }

    /** As {@link #find}, but returns the address, or 0. */
    long address(Handle object) {
        long ops = NativeWords.get(object.address(), table);
        if (ops == 0) { return 0; }
        long size = NativeWords.get(ops, 0); // every table begins with its size
        return size < entry + Long.BYTES ? 0 : NativeWords.get(ops, entry);
    }

    /** As {@link #find}, but throws UnsupportedOperationException if there is none. */
    MemorySegment of(Handle object) {
        return of(object, name());
    }

    /** As {@link #of(Handle)}, for a call that has a name of its own. */
    MemorySegment of(Handle object, String call) {
        MemorySegment function = find(object);
        if (function == null) {
            throw new UnsupportedOperationException(
                    call + " is not offered by the provider " + object.provider() + " on this object");
        }
        return function;
    }

    /** Without FI_CHECK_OP, for a table that some versions of libfabric make without its size. */
    MemorySegment unchecked(Handle object) {
        return slot(object.address()).function();
    }

    /** Where the table that the object shares with others has the function. */
    FunctionSlot slot(long object) {
        return FunctionSlot.in(NativeWords.get(object, table), entry);
    }
}

package io.holdfast.zookeeper;

import java.util.function.Supplier;

/**
 * What a simulation replaces by something that is wrong, to see that it is found out.
 *
 * @param queues makes what is known of one queue
 * @param proofs makes what is known of one session
 */
record Parts(Supplier<LockQueue<Place>> queues, Proofs proofs) {

    static final Parts REAL = new Parts(LockQueue::new, SessionProof::new);

    /** Makes a {@link SessionProof}. */
    interface Proofs {

        SessionProof found(long nowNanos, int timeoutMillis);
    }
}

package io.holdfast.zookeeper.internal.operation;

import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.queue.LockQueue;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import java.util.function.Supplier;

/**
 * The two pure classes on which exclusion rests. A simulation replaces one of them by a class with a mistake, and checks that the mistake
 * is found.
 *
 * @param queues makes the knowledge of one queue
 * @param validities makes the validity of one session
 */
public record ReplaceableParts(Supplier<LockQueue<ClaimState>> queues, SessionValidity.Factory validities) {

    public static final ReplaceableParts REAL = new ReplaceableParts(LockQueue::create, SessionValidity::found);
}

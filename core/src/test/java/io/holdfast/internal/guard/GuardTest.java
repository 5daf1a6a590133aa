package io.holdfast.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.internal.claim.GuardedLease;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;
import reactor.util.context.Context;

class GuardTest {

    private final AtomicBoolean isCancelled = new AtomicBoolean();
    private final Mono<Object> work = Mono.never().doOnCancel(() -> isCancelled.set(true));

    /** From the moment of the loss on, the lease is free for others once its holder was told. */
    private final List<Boolean> cancelledWhenTold = new ArrayList<>();

    /** A lease that is lost just before a signal of its holder begins. */
    private final class LostAtSignals implements GuardedLease {

        private @Nullable Holder holder;

        @Override
        public Context enter(Context context) {
            return context;
        }

        @Override
        public boolean isValid() {
            return true;
        }

        @Override
        public LockLostException lost() {
            return new LockLostException("a", LossReason.EXPIRED, 1);
        }

        @Override
        public void watchLoss(Holder watching) {
            holder = watching;
        }

        @Override
        public void stopWatchingLoss() {
            holder = null;
        }

        @Override
        public void tell(Runnable signal) {
            Holder told = holder;
            if (told != null) {
                told.lost();
                cancelledWhenTold.add(isCancelled.get());
            }
            signal.run();
        }

        @Override
        public Mono<Void> release() {
            return Mono.empty();
        }
    }

    private TestSubscriber<Object> subscribe() {
        TestSubscriber<Object> subscriber = TestSubscriber.create();
        Guard<LostAtSignals, Object> guard =
                new Guard<>(Mono.fromSupplier(LostAtSignals::new), lease -> work, subscriber, false);
        subscriber.onSubscribe(guard);
        return subscriber;
    }

    @Test
    void workIsCancelledByTheLossThatComesAtTheMomentOfItsCancellation() {
        TestSubscriber<Object> subscriber = subscribe();

        subscriber.cancel();

        assertThat(cancelledWhenTold).containsExactly(true);
    }
}

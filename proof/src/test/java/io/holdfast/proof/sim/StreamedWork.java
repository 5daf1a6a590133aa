package io.holdfast.proof.sim;

import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;

/** A user of {@code withLockMany}. It requests the next element when it has processed the one before, and may leave at any element. */
final class StreamedWork {

    private final Member member;
    private final long operation;
    private final UsersCode users;
    private final int elements;
    private boolean isHeld;
    private boolean isEnded;

    StreamedWork(Member member, long operation, UsersCode users) {
        this.member = member;
        this.operation = operation;
        this.users = users;
        elements = users.elements();
    }

    /**
     * Subscribes.
     *
     * @param has set when a lease was granted
     * @param failed receives an error of the lock, or of the work
     */
    Disposable start(ReactiveLock lock, boolean[] has, Consumer<Throwable> failed, Runnable over) {
        Slow slow = new Slow(failed, over);
        lock.withLockMany(lease -> {
                    has[0] = true;
                    return work(lease);
                })
                .subscribe(slow);
        return slow;
    }

    private Flux<Integer> work(LockLease lease) {
        member.acquired(operation, lease);
        isHeld = true;
        try {
            users.isCalledAndMayThrow();
        } catch (UsersCode.Mistake mistake) {
            ends("throws");
            throw mistake;
        }
        return Flux.range(1, elements)
                .concatMap(element -> Mono.delay(Duration.ofNanos(users.pauseNanos()), member.host())
                        .thenReturn(element))
                .doOnTerminate(() -> ends("has done its work"))
                .doOnCancel(() -> ends("has its work cancelled"));
    }

    private void ends(String how) {
        isEnded = true;
        member.ends(operation, how);
    }

    private final class Slow extends BaseSubscriber<Integer> {

        private final Consumer<Throwable> failed;
        private final Runnable over;
        private int taken;

        Slow(Consumer<Throwable> failed, Runnable over) {
            this.failed = failed;
            this.over = over;
        }

        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            request(1);
        }

        @Override
        protected void hookOnNext(Integer element) {
            taken++;
            if (element != taken || !isHeld) {
                member.host()
                        .world()
                        .defect("element %d came as number %d".formatted(element, taken), new IllegalStateException());
            }
            users.isCalled();
            Disposable unused = member.host().schedule(this::goOn, users.pauseNanos(), TimeUnit.NANOSECONDS);
        }

        private void goOn() {
            if (users.leaves()) {
                cancel();
                over.run();
            } else {
                request(1);
            }
        }

        @Override
        protected void hookOnComplete() {
            if (taken != elements || !isEnded) {
                member.host()
                        .world()
                        .defect("%d of %d elements came".formatted(taken, elements), new IllegalStateException());
            }
        }

        @Override
        protected void hookOnError(Throwable error) {
            failed.accept(error);
        }

        @Override
        protected void hookFinally(SignalType type) {
            if (type == SignalType.ON_COMPLETE) {
                over.run();
            }
        }
    }
}

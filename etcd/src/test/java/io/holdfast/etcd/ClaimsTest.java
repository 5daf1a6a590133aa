package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.test.scheduler.VirtualTimeScheduler;

class ClaimsTest {

    private final LockClaim claim =
            LockClaim.first(LockKey.of(LockKind.MUTEX, "stock"), "a-claim", Duration.ofSeconds(9), Waiting.QUEUE);
    private final Layout layout = new Layout("holdfast/");
    private final Claims claims = new Claims(new Slots(layout, "client"), VirtualTimeScheduler.create(), overdue -> {});
    private final Flux<WatchSignal> watch = new Flux<>() {
        @Override
        public void subscribe(CoreSubscriber<? super WatchSignal> subscriber) {
            claims.subscribe(claim, subscriber, id -> {});
        }
    };

    /** A subscriber that comes while the back end closes finds it closed, and fails all again. */
    @Test
    void subscriberThatComesWhileOthersFailIsNotLost() {
        List<String> failed = new ArrayList<>();
        watch.subscribe(signal -> {}, error -> {
            failed.add("first");
            watch.subscribe(signal -> {}, again -> failed.add("second"));
        });
        claims.fail(new IllegalStateException("closed"));
        claims.fail(new IllegalStateException("closed"));
        assertThat(failed).containsExactly("first", "second");
    }

    @Test
    void claimWaitsWhileItIsWatchedAndNotReleased() {
        assertThat(claims.isWaiting(claim.id())).isFalse();
        Tracked it = claims.of(claim);
        Disposable first = watch.subscribe();
        Disposable second = watch.subscribe();
        first.dispose();
        assertThat(claims.isWaiting(claim.id())).isTrue();
        boolean unused = it.release(1);
        assertThat(claims.isWaiting(claim.id())).isFalse();
        second.dispose();
        assertThat(claims.isWaiting(claim.id())).isFalse();
    }

    /** An answer may come after the release. */
    @Test
    void claimThatHasEndedFollowsNone() {
        Tracked it = claims.of(claim);
        Tracked before = new Tracked(claim, overdue -> {});
        ByteSequence own = claims.slot(it);
        ByteSequence blocker = claims.slot(before);
        claims.remove(it);
        claims.follow(it, own, 5, blocker);
        assertThat(claims.follower(before, blocker, layout)).isNull();
    }
}

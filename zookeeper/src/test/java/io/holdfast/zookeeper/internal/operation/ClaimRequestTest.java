package io.holdfast.zookeeper.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.zookeeper.internal.claim.ClaimRegistry;
import io.holdfast.zookeeper.internal.claim.SessionReactions;
import io.holdfast.zookeeper.internal.client.AccessRights;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.connection.SessionTracker;
import io.holdfast.zookeeper.internal.queue.LockQueue;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import io.holdfast.zookeeper.internal.signal.ClaimSignals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

class ClaimRequestTest {

    private final SerialExecutor executor = new SerialExecutor(Schedulers.immediate());
    private final AsyncZooKeeper zooKeeper = new AsyncZooKeeper(executor, new AccessRights(null));
    private final ClaimSignals signals = new ClaimSignals(Schedulers.immediate());
    private final ClaimRegistry claims = new ClaimRegistry(signals, zooKeeper, executor, LockQueue::create);
    private final SessionTracker sessions = new SessionTracker(
            () -> null,
            "/holdfast",
            executor,
            Schedulers.immediate(),
            zooKeeper,
            new SessionReactions(claims, signals, zooKeeper, false, state -> {}),
            SessionValidity::found);
    private final LockClaim claim = LockClaim.first(
            new LockKey(LockKind.MUTEX, "orders", 1), "claim", Duration.ofSeconds(1), io.holdfast.spi.Waiting.NONE);

    /** The requests that have begun their turn. They do nothing else by themselves. */
    private final List<Pending> begun = new ArrayList<>();

    private final Mono<String> requests = ClaimRequest.mono(executor, subscriber -> new Pending(subscriber));

    private final class Pending extends ClaimRequest<String> {

        Pending(CoreSubscriber<? super String> subscriber) {
            super(subscriber, claim, executor, sessions, claims);
        }

        @Override
        void start() {
            takeTurn();
        }

        @Override
        public void begin() {
            begun.add(this);
        }

        @Override
        Mono<String> work(Session session) {
            return Mono.just("with " + session);
        }

        @Override
        String verb() {
            return "try";
        }
    }

    private static final class Subscriber extends BaseSubscriber<String> {

        private final List<Object> seen = new ArrayList<>();

        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            // The test requests the value later.
        }

        @Override
        protected void hookOnNext(String value) {
            seen.add(value);
        }

        @Override
        protected void hookOnComplete() {
            seen.add("end");
        }

        @Override
        protected void hookOnError(Throwable error) {
            seen.add(error);
        }
    }

    private Subscriber subscribed() {
        Subscriber subscriber = new Subscriber();
        requests.subscribe(subscriber);
        return subscriber;
    }

    private Pending last() {
        return begun.get(begun.size() - 1);
    }

    @Test
    void answerWaitsUntilItIsRequestedAndIsEmittedOnce() {
        Subscriber late = subscribed();
        executor.run(() -> last().answer("answer"));
        assertThat(late.seen).isEmpty();
        late.request(1);
        late.request(1);
        assertThat(late.seen).containsExactly("answer", "end");
        Subscriber early = subscribed();
        early.request(1);
        early.request(1);
        assertThat(early.seen).isEmpty();
        executor.run(() -> last().answer("another"));
        assertThat(early.seen).containsExactly("another", "end");
    }

    @Test
    void cancelledSubscriberGetsNoAnswer() {
        Subscriber left = subscribed();
        left.request(1);
        left.cancel();
        executor.run(() -> last().answer("answer"));
        assertThat(left.seen).isEmpty();
        assertThat(claims.all()).isEmpty();
    }

    @Test
    void requestsOfOneClaimTakeTurnsAndEachSubscriberHasOneOfItsOwn() {
        Subscriber first = subscribed();
        Subscriber second = subscribed();
        Subscriber third = subscribed();
        assertThat(begun).hasSize(1);
        executor.run(() -> begun.get(0).answer("a"));
        executor.run(() -> begun.get(1).fail(new IllegalStateException("b")));
        executor.run(() -> begun.get(2).answer("c"));
        List.of(first, second, third).forEach(it -> it.request(1));
        assertThat(first.seen).containsExactly("a", "end");
        assertThat(second.seen).singleElement().isInstanceOf(LockBackendException.class);
        assertThat(third.seen).containsExactly("c", "end");
        assertThat(claims.all()).as("claims in the registry").isEmpty();
    }

    @Test
    void errorNamesTheOperationAndTheLock() {
        Mono<String> failed = requests.doOnSubscribe(it -> {});
        assertThatThrownBy(() -> {
                    var answer = failed.toFuture();
                    executor.run(() -> last().fail(new IllegalStateException("no luck")));
                    answer.get();
                })
                .hasRootCauseMessage("no luck")
                .hasMessageContaining("try lock 'orders' on ZooKeeper failed");
    }

    /** The request must neither take nor keep the turn of the next one. */
    @Test
    void requestThatWaitsForASessionEndsWhenItsSubscriberCancels() {
        SerialExecutor mine = executor;
        Subscriber waiting = subscribed();
        waiting.request(1);
        mine.run(() -> {
            last().send(); // there is no client, so the search will fail
            waiting.cancel();
        });
        assertThat(waiting.seen).isEmpty();
        assertThat(claims.all()).isEmpty();
    }
}

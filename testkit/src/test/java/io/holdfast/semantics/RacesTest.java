package io.holdfast.semantics;

import static io.holdfast.semantics.World.NAME;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.MultiLease;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.ExclusionProbe;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * Two threads meet at the same instant, many times, on the real clock. Whatever the outcome, at most one terminal
 * signal arrives, and nothing is left at the back end or in the client.
 *
 * <p>{@code -Dholdfast.race-millis=5000} repeats each race for longer.
 */
class RacesTest {

    private static final String NOTHING = "0 acquiring, 0 held, 0 releasing, 0 alarms";
    private static final int MOST_ROUNDS = 20_000;
    private static final Duration LONGEST_RACE = Duration.ofMillis(Long.getLong("holdfast.race-millis", 200));
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final InMemoryLockBackend store = InMemoryLockBackend.create();
    private final Queue<LockEvent> events = new ConcurrentLinkedQueue<>();

    /** Written by the thread that sends the attempt. */
    private volatile LockClaim lastClaim;

    private final LockBackend noting = new ForwardingLockBackend() {
        @Override
        public LockBackend delegate() {
            return store;
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            lastClaim = claim;
            return store.tryAcquire(claim);
        }
    };

    private LockClient client = client();
    private final LockClient rival =
            LockClient.builder(store).closeBackend(false).build();

    private LockClient client() {
        return LockClient.builder(noting)
                .closeBackend(false)
                .listener(events::add)
                .build();
    }

    @AfterEach
    void nothingIsLeft() {
        client.close().subscribe();
        rival.close().subscribe();
        await(() -> client.toString().contains(NOTHING) && rival.toString().contains(NOTHING), "both clients idle");
        await(() -> store.contents().isEmpty(), "the store empty: " + store.contents());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void grantAgainstCancel(boolean delivered) {
        if (delivered) {
            client = LockClient.builder(noting)
                    .closeBackend(false)
                    .deliverOn(Schedulers.parallel())
                    .build();
        }
        race(() -> {
            LockLease holder = take(rival);
            Counting<LockLease> waiter = subscribe(client.lock(NAME).acquire());
            return new Round(() -> holder.release().subscribe(), waiter::cancel, () -> {
                waiter.atMostOneSignal();
                LockLease lease = waiter.value;
                if (lease != null) {
                    lease.release().subscribe(done -> {}, lost -> {});
                }
            });
        });
    }

    @Test
    void requestAgainstCancel() {
        LockLease holder = take(rival);
        race(() -> {
            Counting<LockLease> waiter = new Counting<>(0);
            client.lock(NAME).acquire().subscribe(waiter);
            return new Round(() -> waiter.request(1), waiter::cancel, () -> {
                        await(() -> store.contents().size() == 2, "no ghost in the queue");
                        waiter.atMostOneSignal();
                    })
                    .keepingStore();
        });
        holder.release().subscribe();
    }

    @Test
    void requestOfManyLocksAgainstCancel() {
        LockLease holder = take(rival);
        ReactiveMultiLock locks = client.all(client.lock(NAME), client.lock("a lock before it"));
        race(() -> {
            List<Counting<MultiLease>> waiters =
                    Stream.generate(() -> new Counting<MultiLease>(0)).limit(50).toList();
            waiters.forEach(locks.acquire()::subscribe);
            return new Round(
                            () -> waiters.forEach(waiter -> waiter.request(1)),
                            () -> waiters.forEach(BaseSubscriber::cancel),
                            () -> {
                                await(() -> store.contents().size() == 2, "no ghost that holds or waits");
                                waiters.forEach(Counting::atMostOneSignal);
                            })
                    .keepingStore();
        });
        holder.release().subscribe();
    }

    @Test
    void releaseAgainstRelease() {
        race(() -> {
            LockLease lease = take(client);
            Counting<Void> first = new Counting<>(1);
            Counting<Void> second = new Counting<>(1);
            events.clear();
            return new Round(
                    () -> lease.release().subscribe(first),
                    () -> lease.release().subscribe(second),
                    () -> {
                        first.completed();
                        second.completed();
                        assertThat(events).hasSize(1).allMatch(LockEvent.Released.class::isInstance);
                    });
        });
    }

    @Test
    void renewalAgainstRelease() {
        race(() -> {
            LockLease lease = take(client);
            Counting<Void> renewed = new Counting<>(1);
            Counting<Void> released = new Counting<>(1);
            return new Round(
                    () -> lease.renew().subscribe(renewed),
                    () -> lease.release().subscribe(released),
                    () -> {
                        released.completed();
                        renewed.ended();
                        renewed.errorOf(LockLostException.class);
                    });
        });
    }

    @Test
    void lossAgainstRelease() {
        race(() -> {
            LockLease lease = take(client);
            LockClaim claim = lastClaim;
            Counting<LossReason> loss = subscribe(lease.onLoss());
            Counting<Void> released = new Counting<>(1);
            return new Round(
                    () -> {
                        store.release(claim).subscribe();
                        lease.renew().subscribe(done -> {}, lost -> {});
                    },
                    () -> lease.release().subscribe(released),
                    () -> {
                        released.ended();
                        loss.ended();
                        assertThat(released.error != null)
                                .as("released and lost: %s, %s", released, loss)
                                .isEqualTo(loss.value != null);
                    });
        });
    }

    @Test
    void closeAgainstAcquire() {
        race(() -> {
            client = client();
            Counting<LockLease> acquired = new Counting<>(1);
            Counting<Void> closed = new Counting<>(1);
            return new Round(
                    () -> client.lock(NAME).acquire().subscribe(acquired),
                    () -> client.close().subscribe(closed),
                    () -> {
                        closed.completed();
                        acquired.ended();
                        if (acquired.value == null) {
                            acquired.errorOf(LockClosedException.class);
                        } else {
                            assertThat(acquired.value.isValid()).isFalse();
                        }
                    });
        });
    }

    @Test
    void closeAgainstRelease() {
        race(() -> {
            client = client();
            LockLease lease = take(client);
            Counting<LossReason> loss = subscribe(lease.onLoss());
            Counting<Void> released = new Counting<>(1);
            Counting<Void> closed = new Counting<>(1);
            return new Round(
                    () -> lease.release().subscribe(released),
                    () -> client.close().subscribe(closed),
                    () -> {
                        closed.completed();
                        released.ended();
                        loss.ended();
                        assertThat(released.error != null).isEqualTo(loss.value != null);
                    });
        });
    }

    @Test
    void closeAgainstGrant() {
        race(() -> {
            client = client();
            LockLease holder = take(rival);
            Counting<LockLease> waiter = subscribe(client.lock(NAME).acquire());
            Counting<Void> closed = new Counting<>(1);
            return new Round(
                    () -> holder.release().subscribe(), () -> client.close().subscribe(closed), () -> {
                        closed.completed();
                        waiter.ended();
                    });
        });
    }

    @Test
    void endOfTheWorkAgainstCancel() {
        race(() -> {
            Sinks.One<String> work = Sinks.one();
            Counting<String> result = subscribe(client.lock(NAME).withLock(work.asMono()));
            return new Round(() -> emit(work), result::cancel, result::atMostOneSignal);
        });
    }

    @Test
    void endOfTheWorkAgainstLoss() {
        race(() -> {
            Sinks.One<String> work = Sinks.one();
            Sinks.One<LockLease> lease = Sinks.one();
            Counting<String> result = subscribe(client.lock(NAME).withLock(held -> {
                Sinks.EmitResult unused = lease.tryEmitValue(held);
                return work.asMono();
            }));
            LockClaim claim = lastClaim;
            return new Round(
                    () -> emit(work),
                    () -> {
                        store.release(claim).subscribe();
                        lease.asMono().flatMap(LockLease::renew).subscribe(done -> {}, lost -> {});
                    },
                    () -> {
                        result.ended();
                        assertThat(result.value == null).isEqualTo(result.error instanceof LockLostException);
                    });
        });
    }

    @Test
    void beginOfTheWorkAgainstCancel() {
        race(() -> {
            LockLease holder = take(rival);
            Counting<Object> result = subscribe(client.lock(NAME).withLock(Mono.never()));
            return new Round(() -> holder.release().subscribe(), result::cancel, result::atMostOneSignal);
        });
    }

    @Test
    void manyPipelinesWithFaultsAndImpatience() {
        FaultyLockBackend faulty = FaultyLockBackend.over(store, Schedulers.parallel());
        for (Operation operation : Operation.values()) {
            faulty.on(operation)
                    .sometimes(
                            7,
                            0.3,
                            Fault.lostRequest(),
                            Fault.lostReply(),
                            Fault.delayedRequest(Duration.ofMillis(2)),
                            Fault.delayedReply(Duration.ofMillis(2)),
                            Fault.delayedReply(Duration.ofMillis(25)));
        }
        client = LockClient.builder(faulty)
                .closeBackend(false)
                .operationTimeout(Duration.ofMillis(20))
                .build();
        ExclusionProbe probe = ExclusionProbe.exclusive();
        Mono<Long> all = Flux.range(0, 3_000)
                .flatMap(
                        n -> client.lock(NAME)
                                .withLock(lease -> Mono.fromRunnable(() -> {
                                    probe.enter(lease.fencingToken());
                                    probe.exit();
                                }))
                                .timeout(Duration.ofMillis(
                                        1 + ThreadLocalRandom.current().nextInt(40)))
                                .onErrorResume(impatient -> Mono.empty())
                                .thenReturn(n)
                                .subscribeOn(Schedulers.parallel()),
                        64)
                .count();
        Counting<Long> result = subscribe(all);

        result.ended();
        assertThat(result.value).isEqualTo(3_000);
        assertThat(probe.entries()).isPositive();
        probe.verify();
        await(() -> client.toString().contains("0 acquiring, 0 held, 0 releasing"), "all withdrawn");
    }

    private static void emit(Sinks.One<String> work) {
        Sinks.EmitResult unused = work.tryEmitValue("done");
    }

    private static LockLease take(LockClient from) {
        Counting<LockLease> result = subscribe(from.lock(NAME).acquire());
        result.ended();
        return result.value;
    }

    private static <T> Counting<T> subscribe(Mono<T> mono) {
        Counting<T> result = new Counting<>(1);
        mono.subscribe(result);
        return result;
    }

    private static void await(BooleanSupplier condition, String what) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - start).as(what).isLessThan(PATIENCE.toNanos());
            Thread.onSpinWait();
        }
    }

    private interface Rounds {
        Round next();
    }

    private record Round(Runnable left, Runnable right, Runnable check, boolean keepsStore) {

        Round(Runnable left, Runnable right, Runnable check) {
            this(left, right, check, false);
        }

        Round keepingStore() {
            return new Round(left, right, check, true);
        }
    }

    /** Runs a race: a second thread stands ready all the time, and both start together. */
    private void race(Rounds rounds) {
        AtomicInteger line = new AtomicInteger();
        Round[] current = new Round[1];
        Thread other = new Thread(() -> {
            for (int next = 1; ; next += 2) {
                while (line.get() != next) {
                    if (line.get() < 0) {
                        return;
                    }
                    Thread.onSpinWait();
                }
                pause();
                current[0].right().run();
                line.incrementAndGet();
            }
        });
        other.start();
        long start = System.nanoTime();
        try {
            for (int i = 0; i < MOST_ROUNDS && System.nanoTime() - start < LONGEST_RACE.toNanos(); i++) {
                Round round = rounds.next();
                current[0] = round;
                line.set(2 * i + 1);
                pause();
                round.left().run();
                int done = 2 * i + 2;
                await(() -> line.get() == done, "the other thread");
                round.check().run();
                await(() -> client.toString().contains(NOTHING), "the client idle");
                await(() -> round.keepsStore() || store.contents().isEmpty(), "the store empty");
            }
        } finally {
            line.set(-1);
        }
    }

    /** Moves the meeting point over the whole length of both sides. */
    private static void pause() {
        for (int spins = ThreadLocalRandom.current().nextInt(200); spins > 0; spins--) {
            Thread.onSpinWait();
        }
    }

    /** Counts its signals. */
    private static final class Counting<T> extends BaseSubscriber<T> {

        private final int demand;
        private final AtomicInteger values = new AtomicInteger();
        private final AtomicInteger ends = new AtomicInteger();

        /** Written by the signalling thread. */
        volatile T value;

        volatile Throwable error;

        Counting(int demand) {
            this.demand = demand;
        }

        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            if (demand > 0) {
                subscription.request(demand);
            }
        }

        @Override
        protected void hookOnNext(T result) {
            value = result;
            values.incrementAndGet();
        }

        @Override
        protected void hookOnError(Throwable result) {
            error = result;
        }

        @Override
        protected void hookFinally(SignalType type) {
            if (type != SignalType.CANCEL) {
                ends.incrementAndGet();
            }
        }

        void atMostOneSignal() {
            assertThat(values.get()).isLessThanOrEqualTo(1);
            assertThat(ends.get()).isLessThanOrEqualTo(1);
            assertThat(error).isNull();
        }

        void ended() {
            await(() -> ends.get() > 0, "a terminal signal");
            assertThat(values.get()).isLessThanOrEqualTo(1);
            assertThat(ends.get()).isEqualTo(1);
        }

        void completed() {
            ended();
            assertThat(error).isNull();
        }

        void errorOf(Class<? extends Throwable> type) {
            if (error != null) {
                assertThat(error).isInstanceOf(type);
            }
        }

        @Override
        public String toString() {
            return "value %s, error %s".formatted(value, error);
        }
    }
}

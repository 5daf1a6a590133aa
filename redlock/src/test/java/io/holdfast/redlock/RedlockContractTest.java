package io.holdfast.redlock;

import io.holdfast.LocalHandOver;
import io.holdfast.LockInspector;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import io.holdfast.testkit.LockBackendContract;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/** The contract over five masters: all of them up, one down, two down, two hung. */
class RedlockContractTest {

    abstract static class OverFive implements LockBackendContract {

        final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
        private final List<InMemoryLockBackend> stores = Stream.generate(() -> InMemoryLockBackend.create(clock))
                .limit(5)
                .toList();
        private final int failing;
        private final Fault fault;
        private final AtomicLong commands = new AtomicLong();
        private final RedlockBackend backend;
        private final RedlockBackend another;
        private final List<RedlockBackend> all = new ArrayList<>();

        OverFive(int failing, Fault fault) {
            this.failing = failing;
            this.fault = fault;
            backend = made(commands);
            another = made(new AtomicLong());
        }

        private RedlockBackend made(AtomicLong counter) {
            RedlockBackend made = RedlockBackend.over(masters(counter));
            all.add(made);
            return made;
        }

        private List<LockBackend> masters(AtomicLong counter) {
            List<LockBackend> masters = new ArrayList<>();
            for (int i = 0; i < stores.size(); i++) {
                FaultyLockBackend master = FaultyLockBackend.over(stores.get(i), Schedulers.parallel());
                if (i < failing) {
                    Stream.of(Operation.values()).forEach(it -> master.on(it).always(fault));
                }
                masters.add(counted(master, counter));
            }
            return masters;
        }

        private LockBackend counted(LockBackend master, AtomicLong counter) {
            return new ForwardingLockBackend() {
                @Override
                public LockBackend delegate() {
                    return master;
                }

                @Override
                public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                    return counted(ForwardingLockBackend.super.tryAcquire(claim));
                }

                @Override
                public Mono<Renewal> renew(LockClaim claim) {
                    return counted(ForwardingLockBackend.super.renew(claim));
                }

                @Override
                public Mono<Ownership> release(LockClaim claim) {
                    return counted(ForwardingLockBackend.super.release(claim));
                }

                private <T> Mono<T> counted(Mono<T> request) {
                    return request.doOnSubscribe(sent -> counter.incrementAndGet());
                }
            };
        }

        /** Counts the commands of the client that lives, to all masters. Those that vanish still send some here. */
        @Override
        public long serverWork() {
            return commands.get();
        }

        @AfterAll
        void close() {
            all.forEach(it -> it.close().toFuture().join());
        }

        @Override
        public LockBackend backend() {
            return backend;
        }

        @Override
        public LockBackend anotherClient() {
            return another;
        }

        @Override
        public LockBackend newClient() {
            return made(new AtomicLong());
        }

        @Override
        public @Nullable LockInspector inspector() {
            if (failing > 0) {
                return null; // it reads the masters, which do not fail here
            }
            Map<String, LockInspector> inspectors = new LinkedHashMap<>();
            stores.forEach(store -> inspectors.put("memory " + inspectors.size(), store.inspector()));
            return RedlockBackend.inspector(inspectors);
        }

        @Override
        public void passTime(Duration time) {
            clock.advanceTimeBy(time);
        }

        @Override
        public boolean oneOfManyAlwaysWins() {
            return false;
        }

        @Override
        public Set<String> openPoints() {
            return RedlockOpenPoints.LATE_ATTEMPTS;
        }

        @Override
        public Collection<String> leftovers() {
            List<String> left = new ArrayList<>();
            IntStream.range(0, stores.size())
                    .forEach(i -> stores.get(i).contents().forEach(it -> left.add("master " + (i + 1) + ": " + it)));
            all.stream().filter(it -> it.claimCount() > 0).forEach(it -> left.add(it.claimCount() + " candidates"));
            return left;
        }
    }

    @Nested
    @DisplayName("all up")
    class AllUp extends OverFive {
        AllUp() {
            super(0, Fault.none());
        }
    }

    @Nested
    @DisplayName("one down")
    class OneDown extends OverFive {
        OneDown() {
            super(1, Fault.lostRequest());
        }
    }

    @Nested
    @DisplayName("two down")
    class TwoDown extends OverFive {
        TwoDown() {
            super(2, Fault.lostRequest());
        }
    }

    @Nested
    @DisplayName("two refuse")
    class TwoRefuse extends OverFive {
        TwoRefuse() {
            super(2, Fault.refused());
        }
    }

    @Nested
    @DisplayName("two hung")
    class TwoHung extends OverFive {
        TwoHung() {
            super(2, Fault.lostRequest().silently());
        }
    }

    @Nested
    @DisplayName("all up, with a hand-over inside each client")
    class HandingOver extends OverFive {

        private final LockBackend handsOver = over(super.backend());
        private final LockBackend another = over(super.anotherClient());

        HandingOver() {
            super(0, Fault.none());
        }

        @Override
        public LockBackend backend() {
            return handsOver;
        }

        @Override
        public LockBackend anotherClient() {
            return another;
        }

        @Override
        public LockBackend newClient() {
            return over(super.newClient());
        }

        /** A turn ends after some milliseconds: of the clock of this test, so that each turn costs the same. */
        private LockBackend over(LockBackend client) {
            return LocalHandOver.builder(client).timer(clock).build();
        }

        /** A broken hold ends a turn of its process, and a claim that is served costs the masters a part of a turn. */
        @Override
        public Set<String> openPoints() {
            Set<String> points = new HashSet<>(RedlockOpenPoints.LATE_ATTEMPTS);
            points.add("brokenHoldOfAMutexCostsAtMostAServedClaim");
            return points;
        }
    }
}

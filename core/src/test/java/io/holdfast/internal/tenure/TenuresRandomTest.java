package io.holdfast.internal.tenure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.google.errorprone.annotations.FormatMethod;
import io.holdfast.LockKind;
import io.holdfast.internal.memory.LockTable;
import io.holdfast.internal.memory.Outcome;
import io.holdfast.internal.memory.Push;
import io.holdfast.internal.timing.StoreDurations;
import io.holdfast.internal.timing.Validity;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Sinks;

/**
 * Events in any order keep the promises of a hand-over: one owner at a time, rising tokens, a bound for claims of other
 * processes, and no leftovers. The back end is the one in memory. Requests and answers may be late or lost, and
 * otherwise stay in order.
 */
class TenuresRandomTest {

    private static final int HISTORIES = 2_000 * Integer.getInteger("holdfast.cases", 1);

    @Test
    void noHistoryBreaksAPromise() {
        long firstSeed = new Random().nextLong();
        for (long seed = firstSeed; seed != firstSeed + HISTORIES; seed++) {
            History history = new History(new Random(seed));
            try {
                history.run();
            } catch (RuntimeException | AssertionError broken) {
                fail("seed %d: %s%n%s".formatted(seed, broken.getMessage(), history.log), broken);
            }
        }
    }

    /** One process with claims for one lock, another claimant, and the back end. */
    private static final class History {

        private static final LockKey KEY = LockKey.of(LockKind.MUTEX, "stock");

        private final Random random;
        private final StringBuilder log = new StringBuilder();
        private final Duration lease;
        private final int most;
        private final ClaimTable locks;
        private final LockTable store;
        private final Set<String> watchedAtTheStore = new HashSet<>();
        private final Map<String, Tenure> tenures = new HashMap<>();
        private final Queue<Runnable> toStore = new ArrayDeque<>();
        private final Queue<Runnable> fromStore = new ArrayDeque<>();
        private final Queue<Runnable> signals = new ArrayDeque<>();
        private final List<Claimant> claimants = new ArrayList<>();
        private boolean isLossy = true;
        private long now;
        private int names;
        private long lastToken;
        private @Nullable Foreigner foreigner;

        History(Random random) {
            this.random = random;
            // Some histories cross the point where nanoTime wraps.
            now = random.nextBoolean() ? random.nextLong() : Long.MAX_VALUE - random.nextInt(1_000_000_000);
            lease = Duration.ofMillis(List.of(200, 1_000, 10_000).get(random.nextInt(3)));
            most = 1 + random.nextInt(4);
            locks = new ClaimTable(new Bounds(most, lease.toNanos() / (1 + random.nextInt(100))), now);
            store = new LockTable(watchedAtTheStore::contains, now);
        }

        void run() {
            for (int i = 0; i < 300; i++) {
                now += random.nextInt(20) == 0
                        ? random.nextLong(lease.toNanos())
                        : random.nextLong(lease.toNanos() / 100);
                any();
            }
            end();
        }

        private void any() {
            switch (random.nextInt(12)) {
                case 0, 1 -> begin();
                case 2, 3, 4 -> step(toStore);
                case 5, 6, 7 -> step(fromStore);
                case 8, 9 -> step(signals);
                case 10 -> foreign();
                default -> {
                    if (!claimants.isEmpty()) {
                        claimants.get(random.nextInt(claimants.size())).any();
                    }
                }
            }
        }

        private static void step(Queue<Runnable> queue) {
            Runnable next = queue.poll();
            if (next != null) {
                next.run();
            }
        }

        private void begin() {
            if (claimants.size() < 8) {
                Claimant claimant = new Claimant("c" + names++);
                claimants.add(claimant);
                claimant.start();
            }
        }

        private void foreign() {
            if (foreigner == null) {
                foreigner = new Foreigner("f" + names++);
            }
            foreigner.any();
        }

        /** All claims leave, no request is lost any more, and time passes. */
        private void end() {
            isLossy = false;
            log("the end");
            for (int round = 0; round < 40; round++) {
                List.copyOf(claimants).forEach(Claimant::leave);
                if (foreigner != null) {
                    foreigner.leave();
                }
                while (!toStore.isEmpty() || !fromStore.isEmpty() || !signals.isEmpty()) {
                    step(toStore);
                    step(fromStore);
                    step(signals);
                }
                now += Math.max(lease.toNanos() / 2, 1_000_000_000L);
            }
            // An attempt of a claim that does not wait makes the object forget ended claims.
            List<Effect> effects = new ArrayList<>();
            var unused = locks.tryAcquire(
                    new LockClaim(KEY, "last", lease, Waiting.NONE, 1, 0, 1, ""), new Moment(now, effects));
            carryOut(effects);
            assertThat(locks.contents()).isEmpty();
            assertThat(store.contents(now)).isEmpty();
            assertThat(watchedAtTheStore).isEmpty();
        }

        @FormatMethod
        private void log(String format, Object... values) {
            log.append(format.formatted(values)).append('\n');
        }

        /** Sends a request. The request or its answer may be lost. */
        private <A> void ask(
                String what, java.util.function.Supplier<A> request, Consumer<A> answered, Runnable failed) {
            toStore.add(() -> {
                if (isLossy && random.nextInt(20) == 0) {
                    log("lost: %s", what);
                    fromStore.add(failed);
                    return;
                }
                A answer = request.get();
                log("%s: %s", what, answer);
                if (isLossy && random.nextInt(20) == 0) {
                    log("answer lost");
                    fromStore.add(failed);
                } else {
                    fromStore.add(() -> answered.accept(answer));
                }
            });
        }

        private <A> A atStore(Outcome<A> outcome) {
            outcome.pushes().forEach(this::pushed);
            return outcome.answer();
        }

        private void pushed(Push push) {
            log("push %s", push);
            Tenure tenure = tenures.get(push.claimId());
            Foreigner other = foreigner;
            if (other != null && other.id.equals(push.claimId())) {
                other.signalled(push.signal());
            } else if (tenure != null
                    && watchedAtTheStore.contains(push.claimId())
                    && !(isLossy && random.nextInt(20) == 0)) {
                fromStore.add(() -> carryOut(out -> locks.signalled(tenure, push.signal(), new Moment(now, out))));
            }
        }

        private void carryOut(Consumer<List<Effect>> decision) {
            List<Effect> effects = new ArrayList<>();
            decision.accept(effects);
            carryOut(effects);
        }

        private void carryOut(List<Effect> effects) {
            for (Effect effect : effects) {
                if (effect instanceof Effect.Push push) {
                    signals.add(() -> push.watch().accept(push.signal()));
                } else if (effect instanceof Effect.Watch watch) {
                    tenures.put(watch.tenure().atStore.id(), watch.tenure());
                    watchedAtTheStore.add(watch.tenure().atStore.id());
                    carryOut(out -> locks.signalled(watch.tenure(), new WatchSignal.Armed(), new Moment(now, out)));
                    watch.tenure().isStarting = false;
                } else if (effect instanceof Effect.Unwatch unwatch) {
                    watchedAtTheStore.remove(unwatch.tenure().atStore.id());
                } else if (effect instanceof Effect.Reserve reserve) {
                    ask(
                            "reserve " + reserve.claim(),
                            () -> atStore(store.tryAcquire(reserve.claim(), now)),
                            answer -> carryOut(out -> locks.reserved(reserve, answer, new Moment(now, out))),
                            () -> carryOut(out -> locks.reserved(reserve, null, new Moment(now, out))));
                } else if (effect instanceof Effect.Release release) {
                    ask(
                            "release " + release.claim(),
                            () -> atStore(store.release(release.claim(), now)),
                            it -> {},
                            () -> {});
                } else if (effect instanceof Effect.Resume resume) {
                    Sinks.EmitResult unused = resume.release().tryEmitEmpty();
                }
            }
        }

        private void holds(String who, long token) {
            log("%s holds %d", who, token);
            for (Claimant claimant : claimants) {
                assertThat(claimant.believes())
                        .as("%s believes, too", claimant.id)
                        .isFalse();
            }
            if (foreigner != null) {
                assertThat(foreigner.believes())
                        .as("%s believes, too", foreigner.id)
                        .isFalse();
            }
            assertThat(token).as("token of " + who).isGreaterThan(lastToken);
            lastToken = token;
            if (foreigner != null) {
                foreigner.hasSeenOwner(who);
            }
        }

        /** A claim of the process that hands over, with its client. */
        private final class Claimant {

            private final String id;
            private final Map<Integer, Long> attemptedAt = new HashMap<>();
            private final Consumer<WatchSignal> watch = this::signalled;
            private int attempt;
            private boolean isAttempting;
            private boolean isHolding;
            private boolean isLeaving;
            private boolean isReleaseAsked;
            private long until;

            Claimant(String id) {
                this.id = id;
            }

            private LockClaim claim() {
                return LockClaim.first(KEY, id, lease, Waiting.QUEUE).withAttempt(Math.max(1, attempt));
            }

            boolean believes() {
                return isHolding && !Validity.isOver(until, now);
            }

            void start() {
                log("%s waits", id);
                assertThat(locks.watch(claim(), watch, now)).isTrue();
                tryAcquire();
                if (foreigner != null) {
                    foreigner.hasSeen(this);
                }
            }

            void any() {
                if (isHolding && random.nextInt(8) == 0) {
                    keep();
                } else if (isHolding && random.nextInt(3) == 0) {
                    renew();
                } else if (isHolding || random.nextInt(4) == 0) {
                    leave();
                } else if (random.nextInt(20) != 0) {
                    tryAcquire();
                }
            }

            private void tryAcquire() {
                if (isLeaving || isHolding || isAttempting) {
                    return;
                }
                attempt++;
                int number = attempt;
                attemptedAt.put(number, now);
                isAttempting = true;
                LockClaim attempt = claim();
                List<Effect> effects = new ArrayList<>();
                Reply<LockAttempt> reply = locks.tryAcquire(attempt, new Moment(now, effects));
                carryOut(effects);
                if (reply instanceof Reply.Answer<LockAttempt> it) {
                    answered(number, it.answer());
                } else if (reply instanceof Reply.Ask<LockAttempt> ask) {
                    ask(
                            id + " sends the attempt " + ask.claim(),
                            () -> atStore(store.tryAcquire(ask.claim(), now)),
                            answer -> {
                                List<Effect> out = new ArrayList<>();
                                LockAttempt own = locks.answered(ask, id, answer, new Moment(now, out));
                                carryOut(out);
                                answered(number, own);
                            },
                            () -> {
                                carryOut(out -> locks.attemptFailed(ask, id, new Moment(now, out)));
                                isAttempting = false;
                            });
                } else {
                    isAttempting = false; // it was given up, and the object remembers that
                }
            }

            private void answered(int number, LockAttempt answer) {
                isAttempting = false;
                if (answer instanceof LockAttempt.Acquired acquired) {
                    granted(number, acquired.fencingToken(), acquired.lease());
                }
            }

            private void signalled(WatchSignal signal) {
                log("%s gets %s", id, signal);
                if (signal instanceof WatchSignal.Granted granted) {
                    granted(granted.attempt(), granted.fencingToken(), granted.lease());
                } else if (signal instanceof WatchSignal.Lost) {
                    isHolding = false;
                } else if (signal instanceof WatchSignal.Changed) {
                    tryAcquire();
                }
            }

            private void granted(int number, long token, Duration granted) {
                long its = Validity.until(attemptedAt.get(number), StoreDurations.leaseNanos(granted));
                if (!isLeaving && !isHolding && !Validity.isOver(its, now)) {
                    holds(id, token);
                    isHolding = true;
                    until = its;
                }
            }

            private void renew() {
                Reply.Ask<Renewal> ask = locks.renew(claim(), now);
                if (ask == null) {
                    return;
                }
                long sentAt = now;
                ask(
                        "renew " + ask.claim(),
                        () -> atStore(store.renew(ask.claim(), now)),
                        answer -> {
                            carryOut(out -> locks.renewed(ask.tenure(), id, sentAt, answer, new Moment(now, out)));
                            if (answer instanceof Renewal.Held held && believes()) {
                                long its = Validity.until(sentAt, StoreDurations.leaseNanos(held.lease()));
                                until = its - until > 0 ? its : until;
                            } else if (answer instanceof Renewal.NotHeld && isHolding) {
                                isHolding = false;
                                gone();
                            }
                        },
                        () -> ask.tenure().isDoubted = true);
            }

            /**
             * Its work has ended, and the server keeps the lock for a short time, until it is released or the time
             * ends.
             */
            private void keep() {
                isHolding = false;
                isLeaving = true;
                LockClaim shortened = claim().withLease(lease.dividedBy(10));
                Reply.Ask<Renewal> ask = locks.renew(shortened, now);
                if (ask == null) {
                    return;
                }
                long sentAt = now;
                ask(
                        "keep " + ask.claim(),
                        () -> atStore(store.renew(ask.claim(), now)),
                        answer ->
                                carryOut(out -> locks.renewed(ask.tenure(), id, sentAt, answer, new Moment(now, out))),
                        () -> ask.tenure().isDoubted = true);
            }

            /** Releases it, or gives it up, and repeats that until it is confirmed. */
            void leave() {
                isHolding = false;
                isLeaving = true;
                if (isReleaseAsked) {
                    return;
                }
                isReleaseAsked = true;
                log("%s leaves", id);
                release();
            }

            private void release() {
                List<Effect> effects = new ArrayList<>();
                Reply<Ownership> reply = locks.release(claim(), new Moment(now, effects));
                if (reply instanceof Reply.Later<Ownership> later) {
                    isReleaseAsked = random.nextBoolean(); // its client may stop waiting
                    var unused = later.until().asMono().subscribe(none -> {}, error -> {}, this::release);
                } else {
                    released(reply);
                }
                carryOut(effects);
            }

            private void released(Reply<Ownership> reply) {
                if (reply instanceof Reply.Ask<Ownership> ask) {
                    isReleaseAsked = true;
                    withdraw(ask.tenure().withdrawn());
                    ask(
                            id + " releases as " + ask.claim(),
                            () -> atStore(store.release(ask.claim(), now)),
                            answer -> {
                                locks.releaseConfirmed(id);
                                gone();
                            },
                            () -> isReleaseAsked = false);
                } else {
                    gone();
                }
            }

            /** Both answers count: the client repeats the release if the answer to it is missing. */
            private void withdraw(@Nullable LockClaim place) {
                if (place != null) {
                    ask(
                            "withdraw " + place,
                            () -> atStore(store.release(place, now)),
                            it -> {},
                            () -> isReleaseAsked = false);
                }
            }

            private void gone() {
                isLeaving = true;
                isReleaseAsked = true;
                locks.unwatched(id, watch);
                claimants.remove(this);
            }
        }

        /** A claim of another process, which receives all signals of the back end. */
        private final class Foreigner {

            private final String id;
            private final Set<String> cameLater = new HashSet<>();
            private int attempt;
            private boolean hasPlace;
            private boolean isHolding;
            private long attemptedAt;
            private long until;
            private int passed;

            Foreigner(String id) {
                this.id = id;
                watchedAtTheStore.add(id);
            }

            boolean believes() {
                return isHolding && !Validity.isOver(until, now);
            }

            void hasSeen(Claimant claimant) {
                if (hasPlace) {
                    cameLater.add(claimant.id);
                }
            }

            /**
             * One turn may hold the lock, and another one may have a place ahead of this one. Later claims may join
             * both.
             */
            void hasSeenOwner(String who) {
                forgetAnOldPlace();
                if (cameLater.contains(who)) {
                    passed++;
                    assertThat(passed).as("overtaken by later claims").isLessThanOrEqualTo(2 * most + 1);
                }
            }

            /** The back end may have given the place up. */
            private void forgetAnOldPlace() {
                if (now - attemptedAt > lease.toNanos() / 4) {
                    hasPlace = false;
                    cameLater.clear();
                    passed = 0;
                }
            }

            void any() {
                if (isHolding) {
                    leave();
                    return;
                }
                forgetAnOldPlace();
                attempt++;
                attemptedAt = now;
                LockAttempt answer = atStore(store.tryAcquire(
                        LockClaim.first(KEY, id, lease, Waiting.QUEUE).withAttempt(attempt), now));
                if (answer instanceof LockAttempt.Acquired acquired) {
                    granted(acquired.fencingToken(), StoreDurations.leaseNanos(acquired.lease()));
                } else {
                    hasPlace = true;
                }
            }

            private void signalled(WatchSignal signal) {
                if (signal instanceof WatchSignal.Granted granted && granted.attempt() == attempt) {
                    granted(granted.fencingToken(), StoreDurations.leaseNanos(granted.lease()));
                }
            }

            private void granted(long token, long granted) {
                if (!isHolding) {
                    holds(id, token);
                    isHolding = true;
                    until = Validity.until(attemptedAt, granted);
                }
            }

            void leave() {
                log("%s leaves", id);
                watchedAtTheStore.remove(id);
                foreigner = null;
                Ownership unused = atStore(store.release(
                        LockClaim.first(KEY, id, lease, Waiting.QUEUE).withAttempt(Math.max(1, attempt)), now));
            }
        }
    }
}

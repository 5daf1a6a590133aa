package io.holdfast.proof.sim;

import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.history.RecoveryCheck;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A simulated user in a process, which uses locks repeatedly, in one of many ways, and may leave at any moment. */
final class Actor {

    private final Member member;
    private final World world;
    private final Plan plan;
    private final List<LockKey> keys;
    private final boolean wantsMany;
    private final @Nullable Elections elections;
    private final SplittableRandom nesting;
    private final SplittableRandom manyLocks;
    private final SplittableRandom candidates;
    private final SplittableRandom permits;
    private final SplittableRandom successions;
    private final SplittableRandom leastHolds;
    private final UsersCode users;
    private final List<Actor> crew;
    private int deedsLeft;
    private int holds;

    /** The crew is the list of all actors of all processes, this one included; it is filled later. */
    Actor(
            Member member,
            Plan plan,
            List<LockKey> keys,
            boolean wantsMany,
            @Nullable Elections elections,
            List<Actor> crew) {
        int number = crew.size();
        this.member = member;
        this.crew = crew;
        this.plan = plan;
        this.keys = keys;
        this.wantsMany = wantsMany;
        this.elections = elections;
        world = member.host().world();
        nesting = world.chancesOf("nesting", number);
        manyLocks = world.chancesOf("many locks", number);
        candidates = world.chancesOf("elections", number);
        permits = world.chancesOf("permits", number);
        successions = world.chancesOf("successions", number);
        leastHolds = world.chancesOf("least holds", number);
        users = new UsersCode(member.host(), plan, number, this::tryAnother);
        deedsLeft = plan.deeds();
        later(world.between(0, plan.lease().toNanos() / 4), this::act);
    }

    boolean isDone() {
        return (deedsLeft == 0 && holds == 0) || member.host().isDead();
    }

    private void later(long nanos, Runnable task) {
        Disposable unused = member.host().schedule(task, nanos, TimeUnit.NANOSECONDS);
    }

    private Duration hold() {
        long lease = plan.lease().toNanos();
        if (plan.isTight()) {
            return Duration.ofNanos(world.between(lease / 2, 2 * lease));
        }
        return Duration.ofNanos(
                world.chance(0.7)
                        ? world.between(0, lease / 4)
                        : world.between(0, lease * Math.max(3, plan.leases()) / 2));
    }

    private Runnable once() {
        boolean[] isOver = new boolean[1];
        return () -> {
            if (!isOver[0]) {
                isOver[0] = true;
                deedsLeft--;
                if (deedsLeft > 0) {
                    later(world.between(0, plan.lease().toNanos() / (world.chance(0.7) ? 50 : 1)), this::act);
                }
            }
        };
    }

    private void act() {
        if (wantsMany && manyLocks.nextInt(3) == 0) {
            ManyLocks.start(member, plan, keys, manyLocks, once());
            return;
        }
        if (elections != null && candidates.nextInt(3) != 0) {
            elections.stand(member, plan, keys, candidates, once());
            return;
        }
        LockKey key = world.oneOf(keys);
        LockOptions.Builder options = LockOptions.builder().leaseDuration(plan.lease());
        if (!plan.isTight() && world.chance(0.4)) {
            options = options.waitTimeout(
                    Duration.ofMillis(world.between(0, 6 * plan.lease().toMillis())));
        }
        if (world.chance(plan.isTight() ? 0.4 : 0.2)) {
            options = options.autoRenew(false);
        }
        if (world.chance(0.1)) {
            options = options.maxHoldTime(plan.lease().multipliedBy(2));
        }
        int taken = 1 + permits.nextInt(key.permits());
        Duration least = leastHold(key);
        if (!least.isZero()) {
            options = options.minHoldTime(least);
        }
        ReactiveLock lock = member.lock(key, taken, options.build());
        long operation = member.asks(key, taken);
        if (!least.isZero()) {
            member.holdsAtLeast(operation, least);
        }
        world.trace("%s#%d acquires %d of %s", member.host(), operation, taken, key);
        Runnable over = once();
        if (users.streams()) {
            streamed(operation, key, lock, over);
            return;
        }
        switch (world.below(plan.isTight() ? 7 : 10)) {
            case 0, 1, 2, 3 -> scoped(operation, key, lock, over);
            case 4, 5, 6 -> byHand(operation, key, lock.acquire(), over);
            case 7 -> byHand(operation, key, lock.tryAcquire(), over);
            default -> impatient(operation, key, lock, over);
        }
    }

    /** In one of this many schedules, a third of the users of mutexes set a least hold time. */
    private static final int LEAST_HOLDS_SELDOM = 6;

    private Duration leastHold(LockKey key) {
        boolean areWanted = !plan.isTight()
                && !plan.is(Plan.Weather.CALM)
                && key.kind() == LockKind.MUTEX
                && member.canHoldAtLeast()
                && world.chancesOf("least holds", -1).nextInt(LEAST_HOLDS_SELDOM) == 0;
        return areWanted && leastHolds.nextInt(3) == 0
                ? Duration.ofNanos(leastHolds.nextLong(World.ms(1), plan.lease().toNanos() * 6 / 10))
                : Duration.ZERO;
    }

    /** The end of an acquisition without a lease, or of all that came after the lease. */
    private void failed(long operation, boolean[] has, Throwable error, Runnable over) {
        if (!has[0]) {
            boolean isLate = error instanceof LockTimeoutException || error instanceof TimeoutException;
            member.gaveUp(operation, isLate ? "timeout" : RecoveryCheck.FAILED + " " + error.getMessage());
        } else if (error instanceof LockLostException lost) {
            member.loses(operation, lost.reason().toString());
        }
        over.run();
    }

    /** Uses a lock from a place where the product calls users' code. */
    private void tryAnother() {
        LockKey key = keys.get(successions.nextInt(keys.size()));
        LockOptions options = LockOptions.builder().leaseDuration(plan.lease()).build();
        long operation = member.asks(key, 1);
        world.trace("%s#%d acquires one of %s, in users' code", member.host(), operation, key);
        boolean[] has = new boolean[1];
        member.lock(key, options)
                .tryAcquire()
                .subscribe(
                        lease -> {
                            has[0] = true;
                            member.acquired(operation, lease);
                            member.ends(operation, "releases");
                            lease.release().subscribe(nothing -> {}, error -> {});
                        },
                        error -> member.gaveUp(operation, RecoveryCheck.FAILED + " " + error.getMessage()),
                        () -> {
                            if (!has[0]) {
                                member.gaveUp(operation, "empty");
                            }
                        });
    }

    private void streamed(long operation, LockKey key, ReactiveLock lock, Runnable over) {
        boolean[] has = new boolean[1];
        world.trace("%s#%d takes elements under %s", member.host(), operation, key);
        Disposable under = new StreamedWork(member, operation, users)
                .start(lock, has, error -> failed(operation, has, error, over), over);
        leaveSometimes(operation, has, under, over);
    }

    private void scoped(long operation, LockKey key, ReactiveLock lock, Runnable over) {
        boolean[] has = new boolean[1];
        boolean hasViews = key.kind() != LockKind.SEMAPHORE;
        boolean isNested = world.chance(0.2);
        boolean isBeside = hasViews && nesting.nextInt(4) == 0;
        NestedWork beside = new NestedWork(member, operation);
        Disposable under = lock.withLock(lease -> {
                    has[0] = true;
                    member.acquired(operation, lease);
                    beginWork(operation);
                    Mono<Long> work = Mono.delay(hold(), member.host());
                    Mono<Long> all = isNested
                            ? work.then(hasViews ? lock.withLock(inner -> within(lease, inner)) : aLittle())
                            : work;
                    return (isBeside ? with(beside, lock, all) : all)
                            .doOnTerminate(() -> beside.outermostEnds("has done its work"))
                            .doOnCancel(() -> beside.outermostEnds("has its work cancelled"));
                })
                .subscribe(nothing -> {}, error -> failed(operation, has, error, over), over);
        leaveSometimes(operation, has, under, over);
    }

    private void beginWork(long operation) {
        try {
            users.isCalledAndMayThrow();
        } catch (UsersCode.Mistake mistake) {
            member.ends(operation, "throws");
            throw mistake;
        }
    }

    private Mono<Long> within(LockLease outer, LockLease inner) {
        if (outer.fencingToken() != inner.fencingToken() && outer.isValid()) {
            world.defect("a nested lease has a token of its own", new IllegalStateException(inner.toString()));
        }
        return aLittle();
    }

    private Mono<Long> with(NestedWork beside, ReactiveLock lock, Mono<Long> work) {
        return Mono.deferContextual(context -> {
            beside.start(lock, Duration.ofNanos(nesting.nextLong(plan.lease().toNanos())), context);
            return work;
        });
    }

    private Mono<Long> aLittle() {
        return Mono.defer(() -> Mono.delay(Duration.ofMillis(world.between(0, 20)), member.host()));
    }

    private void byHand(long operation, LockKey key, Mono<LockLease> acquire, Runnable over) {
        boolean[] has = new boolean[1];
        Disposable under = acquire.subscribe(
                lease -> {
                    has[0] = true;
                    hold(operation, key, lease, over);
                },
                error -> failed(operation, has, error, over),
                () -> {
                    if (!has[0]) {
                        member.gaveUp(operation, "empty");
                        over.run();
                    }
                });
        leaveSometimes(operation, has, under, () -> {
            if (!has[0]) {
                over.run();
            }
        });
    }

    private void hold(long operation, LockKey key, LockLease lease, Runnable over) {
        believe(operation, lease);
        if (world.chance(0.1)) {
            later(hold().toNanos(), () -> lease.renew().subscribe(nothing -> {}, error -> {}));
        }
        holds++;
        later(hold().toNanos(), () -> {
            if (key.kind() == LockKind.WRITE && member.canDowngrade() && successions.nextInt(2) == 0) {
                downgrade(operation, key, lease, over);
            } else if (member.canHandOn() && successions.nextInt(4) == 0) {
                handOn(operation, key, lease, over);
            } else {
                release(operation, lease, over);
            }
        });
    }

    private void believe(long operation, LockLease lease) {
        member.acquired(operation, lease);
        lease.onLoss()
                .subscribe(
                        reason -> {
                            member.loses(operation, reason.toString());
                            users.isCalledAndMayThrow();
                        },
                        error -> {});
        users.isCalled();
    }

    private void release(long operation, LockLease lease, Runnable over) {
        holds--;
        member.ends(operation, "releases");
        Disposable release = lease.release().subscribe(nothing -> {}, error -> over.run(), over);
        if (world.chance(0.1)) {
            release.dispose();
            over.run();
        }
    }

    private void downgrade(long operation, LockKey key, LockLease lease, Runnable over) {
        long reading = member.goesOn(LockKey.of(LockKind.READ, key.name()), lease.fencingToken());
        world.trace("%s#%d becomes a reader, as #%d", member.host(), operation, reading);
        Mono<LockLease> reader = lease.downgrade().doOnNext(it -> endsWith(operation, lease, "is a reader"));
        goOn(reading, reader, over);
        endsWith(operation, lease, "becomes a reader");
    }

    /** Hands the lease on to another process, or to this one. */
    private void handOn(long operation, LockKey key, LockLease lease, Runnable over) {
        Actor heir = crew.get(successions.nextInt(crew.size()));
        long transport = successions.nextLong(plan.lease().toNanos() / 8);
        long end = world.now() + lease.remaining().toNanos();
        lease.export()
                .subscribe(
                        text -> {
                            heir.holds++;
                            world.after(
                                    transport,
                                    () -> heir.member
                                            .host()
                                            .arrive(() -> heir.adopt(key, lease.fencingToken(), end, text)));
                            handedOn(over);
                        },
                        error -> handedOn(over));
        endsWith(operation, lease, "hands its lease on");
    }

    private void handedOn(Runnable over) {
        holds--;
        over.run();
    }

    /** Ends the operation if the lease itself is invalid. */
    private void endsWith(long operation, LockLease lease, String how) {
        if (!lease.isValid()) {
            member.ends(operation, how);
        }
    }

    private void adopt(LockKey key, long token, long end, String text) {
        long operation = member.goesOn(key, token);
        world.trace("%s#%d adopts token %d", member.host(), operation, token);
        if (world.now() > end - plan.lease().toNanos() / 10) {
            member.adoptsLate(); // it may be cancelled before it learns that the lease is over
        }
        goOn(operation, member.adopt(text), () -> {});
    }

    private void goOn(long operation, Mono<LockLease> next, Runnable over) {
        boolean[] isOver = new boolean[1];
        Disposable under = next.subscribe(
                lease -> {
                    isOver[0] = true;
                    believe(operation, lease);
                    long length = successions.nextLong(plan.lease().toNanos());
                    later(length, () -> release(operation, lease, over));
                },
                error -> {
                    isOver[0] = true;
                    member.doesNotContinue(operation, error);
                    handedOn(over);
                });
        if (successions.nextInt(4) == 0) {
            later(successions.nextLong(plan.lease().toNanos() / 4), () -> {
                if (!isOver[0]) {
                    under.dispose();
                    member.gaveUp(operation, "cancelled");
                    handedOn(over);
                }
            });
        }
    }

    /** Others than the lock decide that it takes too long, or that it is not wanted any more when it comes. */
    private void impatient(long operation, LockKey key, ReactiveLock lock, Runnable over) {
        boolean[] has = new boolean[1];
        Duration patience = Duration.ofNanos(world.between(0, plan.lease().toNanos()));
        Supplier<Mono<LockLease>> first = () -> lock.acquire().doOnNext(lease -> {
            has[0] = true;
            hold(operation, key, lease, () -> {});
        });
        Mono<?> raced = switch (world.below(3)) {
            case 0 -> first.get().timeout(patience, member.host());
            case 1 -> Mono.zip(first.get(), Mono.delay(patience, member.host())).timeout(patience, member.host());
            default -> Mono.firstWithSignal(first.get(), Mono.delay(patience, member.host()));
        };
        raced.subscribe(
                nothing -> {
                    if (!has[0]) {
                        member.gaveUp(operation, "lost the race");
                    }
                },
                error -> failed(operation, has, error, over),
                over);
    }

    private void leaveSometimes(long operation, boolean[] has, Disposable under, Runnable over) {
        if (!plan.isTight() && world.chance(0.25)) {
            later(world.between(0, plan.lease().toNanos() / (world.chance(0.5) ? 20 : 1)), () -> {
                if (!under.isDisposed()) {
                    if (!has[0]) {
                        member.gaveUp(operation, "cancelled");
                    }
                    under.dispose();
                    over.run();
                }
            });
        }
    }
}

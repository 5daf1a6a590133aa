package io.holdfast.proof.sim;

import io.holdfast.LockException;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.history.RecoveryCheck;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A simulated user that acquires several locks at once. The history has an operation for each of them. */
final class ManyLocks {

    /** One of this many schedules has such users. */
    private static final int SELDOM = 6;

    private final Member member;
    private final Plan plan;
    private final SplittableRandom chances;
    private final List<LockKey> keys = new ArrayList<>();
    private final List<Integer> permits;
    private final List<Long> operations;
    private boolean isHeld;
    private boolean isOver;

    private ManyLocks(Member member, Plan plan, List<LockKey> all, SplittableRandom chances) {
        this.member = member;
        this.plan = plan;
        this.chances = chances;
        List<LockKey> left = new ArrayList<>(all);
        while (!left.isEmpty() && keys.size() < 3) {
            LockKey next = left.get(chances.nextInt(left.size()));
            keys.add(next);
            left.removeIf(it -> it.name().equals(next.name()));
        }
        permits = keys.stream().map(key -> some(key, chances)).toList();
        operations = IntStream.range(0, keys.size())
                .mapToObj(at -> member.asksTogether(keys.get(at), permits.get(at)))
                .toList();
    }

    private static int some(LockKey key, SplittableRandom chances) {
        return key.permits() == 1 ? 1 : 1 + chances.nextInt(key.permits());
    }

    /** Returns whether users of this schedule acquire several locks at once. */
    static boolean areWanted(World world, Plan plan, List<LockKey> keys) {
        boolean areSeveral = keys.stream().map(LockKey::name).distinct().count() > 1;
        return areSeveral
                && !plan.isTight()
                && world.chancesOf("many locks", -1).nextInt(SELDOM) == 0;
    }

    /** Acquires some locks, works, and sometimes leaves. */
    static void start(Member member, Plan plan, List<LockKey> all, SplittableRandom chances, Runnable over) {
        new ManyLocks(member, plan, all, chances).start(over);
    }

    private void start(Runnable over) {
        LockOptions.Builder options = LockOptions.builder().leaseDuration(plan.lease());
        if (chances.nextInt(3) == 0) {
            options = options.waitTimeout(
                    Duration.ofMillis(chances.nextLong(6 * plan.lease().toMillis())));
        }
        LockOptions each = options.build();
        ReactiveLock[] locks = IntStream.range(0, keys.size())
                .mapToObj(at -> member.lock(keys.get(at), permits.get(at), each))
                .toArray(ReactiveLock[]::new);
        Runnable once = () -> {
            if (!isOver) {
                isOver = true;
                over.run();
            }
        };
        Disposable under = member.all(locks)
                .withLock(leases -> {
                    begins(leases.leases());
                    return Mono.delay(some(plan.lease().toNanos()), member.host())
                            .doOnTerminate(this::ends)
                            .doOnCancel(this::ends);
                })
                .subscribe(nothing -> {}, error -> failed(error, once), once);
        if (chances.nextInt(4) == 0) {
            Disposable unused = member.host()
                    .schedule(
                            () -> leaves(under, once),
                            some(plan.lease().toNanos()).toNanos(),
                            TimeUnit.NANOSECONDS);
        }
    }

    private Duration some(long most) {
        return Duration.ofNanos(chances.nextLong(1, chances.nextInt(4) == 0 ? 2 * most : most / 8));
    }

    private void begins(List<LockLease> leases) {
        isHeld = true;
        IntStream.range(0, keys.size()).forEach(at -> {
            String name = keys.get(at).name();
            LockLease lease = leases.stream()
                    .filter(it -> it.lockName().equals(name))
                    .findFirst()
                    .orElseThrow();
            member.acquired(operations.get(at), lease);
        });
    }

    private void ends() {
        operations.forEach(operation -> member.ends(operation, "has done its work with many locks"));
    }

    private void failed(Throwable error, Runnable over) {
        if (!isHeld) {
            String how =
                    error instanceof LockTimeoutException ? "timeout" : RecoveryCheck.FAILED + " " + error.getMessage();
            operations.forEach(operation -> member.gaveUp(operation, how));
        } else if (!(error instanceof LockException)) {
            member.host().world().defect("work under many locks failed with " + error, error);
        }
        over.run();
    }

    private void leaves(Disposable under, Runnable over) {
        if (!under.isDisposed()) {
            if (!isHeld) {
                operations.forEach(operation -> member.gaveUp(operation, "cancelled"));
            }
            under.dispose();
            over.run();
        }
    }
}

package io.holdfast.proof.sim;

import io.holdfast.Backoff;
import io.holdfast.LockException;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.proof.sim.Plan.Weather;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.history.RecoveryCheck;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** The candidates of one simulated world. The history has an operation for each candidacy. */
final class Elections {

    /** One of this many schedules has elections. */
    private static final int SELDOM = 6;

    private final boolean excludes;
    private final List<Candidate> leading = new ArrayList<>();

    Elections(Plan plan) {
        excludes = !plan.is(Weather.WILD);
    }

    /** Returns whether users of this schedule stand for election. */
    static boolean areWanted(World world, Plan plan, List<LockKey> keys) {
        return !plan.isTight()
                && keys.stream().anyMatch(Elections::isElection)
                && world.chancesOf("elections", -1).nextInt(SELDOM) == 0;
    }

    private static boolean isElection(LockKey key) {
        return key.kind() == LockKind.MUTEX;
    }

    /** One candidate, which leads, resigns or leaves at some time. */
    void stand(Member member, Plan plan, List<LockKey> keys, SplittableRandom chances, Runnable over) {
        List<LockKey> elections = keys.stream().filter(Elections::isElection).toList();
        LockKey key = elections.get(chances.nextInt(elections.size()));
        new Candidate(member, plan, key, chances, over).start();
    }

    private final class Candidate {

        private final Member member;
        private final Plan plan;
        private final LockKey key;
        private final SplittableRandom chances;
        private final Runnable over;
        private long operation;
        private boolean isStanding;
        private boolean isLeaving;
        private boolean isOver;

        Candidate(Member member, Plan plan, LockKey key, SplittableRandom chances, Runnable over) {
            this.member = member;
            this.plan = plan;
            this.key = key;
            this.chances = chances;
            this.over = over;
        }

        void start() {
            LockOptions options = LockOptions.builder()
                    .leaseDuration(plan.lease())
                    .backoff(Backoff.exponential(
                                    Duration.ofMillis(5), plan.lease().dividedBy(6))
                            .withJitter(0.5))
                    .build();
            stands();
            Disposable under = member.election(key, options)
                    .lead(this::begins)
                    .subscribe(length -> {}, this::failed, this::isDone);
            Disposable unused = member.host()
                    .schedule(
                            () -> leaves(under),
                            some(3 * plan.lease().toNanos()).toNanos(),
                            TimeUnit.NANOSECONDS);
        }

        private Duration some(long most) {
            return Duration.ofNanos(chances.nextLong(1, chances.nextInt(4) == 0 ? most : most / 4));
        }

        private void stands() {
            isStanding = true;
            operation = member.asksTogether(key);
        }

        private Mono<Long> begins(LockLease lease) {
            isStanding = false;
            member.acquired(operation, lease);
            for (Candidate other : leading) {
                boolean isAware =
                        !other.member.host().isBehind() && !other.member.host().isDead();
                if (excludes && other.key.equals(key) && isAware) {
                    member.host()
                            .world()
                            .defect(
                                    "two lead: %s and %s".formatted(other.member.host(), member.host()),
                                    new IllegalStateException(lease.toString()));
                }
            }
            leading.add(this);
            return Mono.delay(some(2 * plan.lease().toNanos()), member.host())
                    .doOnTerminate(() -> ends("has ended its term"))
                    .doOnCancel(this::isCancelled);
        }

        private void ends(String how) {
            leading.remove(this);
            member.ends(operation, how);
        }

        private void isCancelled() {
            if (isLeaving) {
                ends("has its term cancelled");
                return;
            }
            leading.remove(this);
            member.loses(operation, "its term was cancelled");
            stands();
        }

        private void failed(Throwable error) {
            if (!(error instanceof LockException)) {
                member.host().world().defect("a candidate failed with " + error, error);
            }
            if (isStanding) {
                member.gaveUp(operation, RecoveryCheck.FAILED + " " + error.getMessage());
            }
            isDone();
        }

        private void leaves(Disposable under) {
            if (!under.isDisposed()) {
                isLeaving = true;
                if (isStanding) {
                    member.gaveUp(operation, "cancelled");
                }
                under.dispose();
                isDone();
            }
        }

        private void isDone() {
            if (!isOver) {
                isOver = true;
                over.run();
            }
        }
    }
}

package io.holdfast.internal.tenure;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.LossReason;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Answers of the back end that come late, or that show a loss. */
class LateAnswersTest {

    private static final Duration LEASE = Duration.ofSeconds(30);

    private final ClaimTable locks =
            new ClaimTable(new Bounds(4, Duration.ofSeconds(1).toNanos()), 0);
    private final List<Effect> effects = new ArrayList<>();
    private final List<WatchSignal> signals = new ArrayList<>();
    private final LockClaim first = claim("first");
    private final LockClaim second = claim("second");

    private static LockClaim claim(String id) {
        return LockClaim.first(LockKey.of(LockKind.MUTEX, "stock"), id, LEASE, Waiting.QUEUE);
    }

    private Reply.Ask<LockAttempt> ask(LockClaim claim, long now) {
        assertThat(locks.watch(claim, signals::add, now)).isTrue();
        return (Reply.Ask<LockAttempt>) locks.tryAcquire(claim, new Moment(now, effects));
    }

    private List<Effect> taken() {
        List<Effect> taken = List.copyOf(effects);
        effects.clear();
        return taken;
    }

    private Effect.Reserve begun() {
        Reply.Ask<LockAttempt> asked = ask(first, 0);
        assertThat(locks.watch(second, signals::add, 0)).isTrue();
        var unused = locks.tryAcquire(second, new Moment(0, effects));
        LockAttempt granted =
                locks.answered(asked, first.id(), new LockAttempt.Acquired(100, LEASE), new Moment(1, effects));
        assertThat(granted).isEqualTo(new LockAttempt.Acquired(100, LEASE));
        return taken().stream()
                .filter(Effect.Reserve.class::isInstance)
                .map(Effect.Reserve.class::cast)
                .findFirst()
                .orElseThrow();
    }

    /** An operator has broken the hold, another process had the lock, and the request took it anew. */
    @Test
    void aLockThatTheRequestForTokensHasTakenAnewIsALossForTheOwner() {
        Effect.Reserve reserve = begun();
        long later = reserve.claim().tokenFloor() + 1_000;
        locks.reserved(reserve, new LockAttempt.Acquired(later, LEASE), new Moment(2, effects));
        List<Effect> out = taken();
        assertThat(out).contains(new Effect.Push(watchOf(out), new WatchSignal.Lost(LossReason.NOT_HELD)));
        assertThat(out)
                .anyMatch(it -> it instanceof Effect.Release release
                        && release.claim().id().equals(reserve.claim().id()));
    }

    private static Consumer<WatchSignal> watchOf(List<Effect> out) {
        return out.stream()
                .filter(Effect.Push.class::isInstance)
                .map(it -> ((Effect.Push) it).watch())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aBackEndThatIgnoresTheRequestForTokensTakesNothingFromTheOwner() {
        Effect.Reserve reserve = begun();
        locks.reserved(reserve, new LockAttempt.Acquired(100, LEASE), new Moment(2, effects));
        assertThat(taken()).isEmpty();
    }

    /** The back end has forgotten the release by then, so the attempt took the lock for no claim. */
    @Test
    void aGrantThatComesLongAfterTheReleaseOfItsPlaceIsGivenBack() {
        Reply.Ask<LockAttempt> asked = ask(first, 0);
        assertThat(locks.release(first, new Moment(1, effects))).isInstanceOf(Reply.Ask.class);
        effects.clear();
        long late = Duration.ofSeconds(6).toNanos();
        var unused = locks.answered(asked, first.id(), new LockAttempt.Acquired(100, LEASE), new Moment(late, effects));
        assertThat(taken())
                .anyMatch(it -> it instanceof Effect.Release release
                        && release.claim().id().equals(asked.claim().id()));
    }

    @Test
    void aGrantThatTheReleaseHasEndedIsNotReleasedAgain() {
        Reply.Ask<LockAttempt> asked = ask(first, 0);
        assertThat(locks.release(first, new Moment(1, effects))).isInstanceOf(Reply.Ask.class);
        effects.clear();
        var unused = locks.answered(asked, first.id(), new LockAttempt.Acquired(100, LEASE), new Moment(2, effects));
        assertThat(taken()).noneMatch(Effect.Release.class::isInstance);
    }

    /** That attempt may arrive after the loss, and would take the lock for no claim. */
    @Test
    void aDeniedTenureIsReleasedIfAnAttemptWasNeverAnswered() {
        Reply.Ask<LockAttempt> asked = ask(first, 0);
        locks.attemptFailed(asked, first.id(), new Moment(1, effects));
        denied(ask(first.withAttempt(2), 2));
        assertThat(taken())
                .anyMatch(it -> it instanceof Effect.Release release
                        && release.claim().id().equals(asked.claim().id()));
    }

    @Test
    void aDeniedTenureIsNotReleasedIfEachAttemptWasAnswered() {
        denied(ask(first, 0));
        assertThat(taken()).noneMatch(Effect.Release.class::isInstance);
    }

    private void denied(Reply.Ask<LockAttempt> asked) {
        var unused = locks.answered(asked, first.id(), new LockAttempt.Acquired(100, LEASE), new Moment(3, effects));
        locks.renewed(asked.tenure(), first.id(), 4, new Renewal.NotHeld(), new Moment(5, effects));
    }
}

package io.holdfast.internal.client;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Backoff;
import io.holdfast.LockBackendException;
import io.holdfast.LockClosedException;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.internal.client.CandidateState.Candidacy;
import io.holdfast.internal.client.CandidateState.StandAgain;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CandidateStateTest {

    private static final String NAME = "billing";
    private static final long LEASE = Duration.ofSeconds(30).toNanos();
    private static final Candidacy STANDING = new Candidacy(0, 0, false);
    private static final Candidacy LEADING = new Candidacy(7, LEASE, false);
    private final LockLostException lost = new LockLostException(NAME, LossReason.NOT_HELD, 7);

    private final CandidateState state =
            CandidateState.of(Backoff.exponential(Duration.ofMillis(20), Duration.ofSeconds(1)), LEASE);

    private static StandAgain again(@Nullable StandAgain step) {
        return requireNonNull(step);
    }

    private static LockBackendException failure(boolean isTransient) {
        return new LockBackendException(NAME, "away", isTransient, null);
    }

    @Test
    void aLossIsFollowedByAnotherCandidacyAfterAPauseThatDoubles() {
        StandAgain first = again(state.ended(NAME, LEADING, lost, 0));
        StandAgain second = again(first.next().ended(NAME, LEADING, lost, 0));
        assertThat(first.pauseNanos()).isEqualTo(Duration.ofMillis(20).toNanos());
        assertThat(second.pauseNanos()).isEqualTo(Duration.ofMillis(40).toNanos());
        assertThat(first.backEndFailed() || second.backEndFailed()).isFalse();
    }

    @Test
    void aTermThatLastsLongerThanALeaseStartsThePausesAnew() {
        CandidateState before =
                again(state.ended(NAME, STANDING, failure(true), 0)).next();
        StandAgain again = again(before.ended(NAME, new Candidacy(7, LEASE + 1, false), lost, 0));
        assertThat(again.pauseNanos()).isEqualTo(Duration.ofMillis(20).toNanos());
    }

    @Test
    void anUnreachableBackEndIsTriedAgainAndReportedOnceInARow() {
        StandAgain first = again(state.ended(NAME, STANDING, failure(true), 0));
        StandAgain second = again(first.next().ended(NAME, STANDING, failure(true), 0));
        assertThat(first.backEndFailed()).isTrue();
        assertThat(second.backEndFailed()).isFalse();
        assertThat(second.pauseNanos()).isEqualTo(Duration.ofMillis(40).toNanos());

        CandidateState led = again(second.next().ended(NAME, LEADING, lost, 0)).next();
        assertThat(again(led.ended(NAME, STANDING, failure(true), 0)).backEndFailed())
                .isTrue();
    }

    @Test
    void aBackEndThatAnsweredMeanwhileIsReportedAgain() {
        CandidateState away =
                again(state.ended(NAME, STANDING, failure(true), 0)).next();
        Candidacy whole = new Candidacy(0, 10 * LEASE, false);
        StandAgain again = again(away.ended(NAME, whole, failure(true), 0));
        assertThat(again.backEndFailed()).isTrue();
        assertThat(again.pauseNanos()).isEqualTo(Duration.ofMillis(20).toNanos());
    }

    @Test
    void aPauseIsAMillisecondAtLeast() {
        CandidateState eager =
                CandidateState.of(Backoff.fixed(Duration.ofMillis(1)).withJitter(1), LEASE);
        assertThat(again(eager.ended(NAME, LEADING, lost, 0.999)).pauseNanos()).isEqualTo(1_000_000);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "store refuses for good",
                "client closed",
                "term failed",
                "term failed as the store does",
                "another lease lost",
                "another lock lost",
                "found lost after the end of the term",
                "nested in a lost lease"
            })
    void theRestEndsTheCandidate(String end) {
        StandAgain step = switch (end) {
            case "store refuses for good" -> state.ended(NAME, STANDING, failure(false), 0);
            case "client closed" -> state.ended(NAME, STANDING, new LockClosedException(NAME), 0);
            case "term failed" -> state.ended(NAME, LEADING, new IllegalStateException(), 0);
            case "term failed as the store does" -> state.ended(NAME, LEADING, failure(true), 0);
            case "another lease lost" ->
                state.ended(NAME, LEADING, new LockLostException(NAME, LossReason.EXPIRED, 6), 0);
            case "another lock lost" ->
                state.ended(NAME, LEADING, new LockLostException("other", LossReason.EXPIRED, 7), 0);
            case "found lost after the end of the term" -> state.ended(NAME, new Candidacy(7, 0, true), lost, 0);
            default -> state.ended(NAME, STANDING, lost, 0);
        };
        assertThat(step).isNull();
    }
}

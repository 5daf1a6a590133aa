package io.holdfast.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.internal.claim.AcquireState.Phase;
import io.holdfast.internal.claim.ClaimState.Action;
import io.holdfast.internal.claim.ClaimState.Step;
import io.holdfast.internal.engine.LockTerms.Mode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every phase with every event. */
class AcquireStateTableTest {

    private static final long NOW = Acquiring.millis(5);

    @ParameterizedTest(name = "{0} {1}: {2}, {3}")
    @CsvSource(textBlock = """
        # phase  , event          , action           , next phase
        READY    , acquired       , NONE             , READY
        READY    , acquired late  , NONE             , READY
        READY    , contended      , NONE             , READY
        READY    , queued         , NONE             , READY
        READY    , failed         , NONE             , READY
        READY    , refused        , NONE             , READY
        READY    , stale answer   , NONE             , READY
        READY    , stale failure  , NONE             , READY
        READY    , armed          , NONE             , READY
        READY    , changed        , NONE             , READY
        READY    , lost           , NONE             , READY
        READY    , disarmed       , NONE             , READY
        READY    , granted        , NONE             , READY
        READY    , granted late   , NONE             , READY
        READY    , granted unknown , NONE             , READY
        READY    , pause over     , NONE             , READY
        READY    , timed out      , TIMED_OUT        , ENDED
        READY    , closed         , CLOSED           , ENDED
        READY    , left           , NONE             , ENDED
        ATTEMPTING  , acquired       , DELIVER          , ENDED
        ATTEMPTING  , acquired late  , NONE             , PAUSING
        ATTEMPTING  , contended      , NONE             , PAUSING
        ATTEMPTING  , queued         , NONE             , PAUSING
        ATTEMPTING  , failed         , NONE             , PAUSING
        ATTEMPTING  , refused        , FAIL+withdraw    , ENDED
        ATTEMPTING  , stale answer   , NONE             , ATTEMPTING
        ATTEMPTING  , stale failure  , NONE             , ATTEMPTING
        ATTEMPTING  , armed          , NONE             , ATTEMPTING
        ATTEMPTING  , changed        , NONE             , ATTEMPTING
        ATTEMPTING  , lost           , NONE             , ATTEMPTING
        ATTEMPTING  , disarmed       , NONE             , ATTEMPTING
        ATTEMPTING  , granted        , DELIVER          , ENDED
        ATTEMPTING  , granted late   , NONE             , ATTEMPTING
        ATTEMPTING  , granted unknown, NONE             , ATTEMPTING
        ATTEMPTING  , pause over     , NONE             , ATTEMPTING
        ATTEMPTING  , timed out      , TIMED_OUT        , LEAVING
        ATTEMPTING  , closed         , CLOSED           , LEAVING
        ATTEMPTING  , left           , NONE             , LEAVING
        PAUSING  , acquired       , NONE             , PAUSING
        PAUSING  , acquired late  , NONE             , PAUSING
        PAUSING  , contended      , NONE             , PAUSING
        PAUSING  , queued         , NONE             , PAUSING
        PAUSING  , failed         , NONE             , PAUSING
        PAUSING  , refused        , NONE             , PAUSING
        PAUSING  , stale answer   , NONE             , PAUSING
        PAUSING  , stale failure  , NONE             , PAUSING
        PAUSING  , armed          , ATTEMPT          , ATTEMPTING
        PAUSING  , changed        , ATTEMPT          , ATTEMPTING
        PAUSING  , lost           , ATTEMPT          , ATTEMPTING
        PAUSING  , disarmed       , ATTEMPT          , ATTEMPTING
        PAUSING  , granted        , DELIVER          , ENDED
        PAUSING  , granted late   , ATTEMPT          , ATTEMPTING
        PAUSING  , granted unknown, ATTEMPT          , ATTEMPTING
        PAUSING  , pause over     , ATTEMPT          , ATTEMPTING
        PAUSING  , timed out      , TIMED_OUT+withdraw, ENDED
        PAUSING  , closed         , CLOSED+withdraw  , ENDED
        PAUSING  , left           , NONE+withdraw    , ENDED
        LEAVING  , acquired       , NONE+withdraw    , ENDED
        LEAVING  , acquired late  , NONE+withdraw    , ENDED
        LEAVING  , contended      , NONE+withdraw    , ENDED
        LEAVING  , queued         , NONE+withdraw    , ENDED
        LEAVING  , failed         , NONE+withdraw    , ENDED
        LEAVING  , refused        , NONE+withdraw    , ENDED
        LEAVING  , stale answer   , NONE             , LEAVING
        LEAVING  , stale failure  , NONE             , LEAVING
        LEAVING  , armed          , NONE             , LEAVING
        LEAVING  , changed        , NONE             , LEAVING
        LEAVING  , lost           , NONE             , LEAVING
        LEAVING  , disarmed       , NONE             , LEAVING
        LEAVING  , granted        , NONE             , LEAVING
        LEAVING  , granted late   , NONE             , LEAVING
        LEAVING  , granted unknown, NONE             , LEAVING
        LEAVING  , pause over     , NONE             , LEAVING
        LEAVING  , timed out      , NONE             , LEAVING
        LEAVING  , closed         , NONE             , LEAVING
        LEAVING  , left           , NONE             , LEAVING
        ENDED    , acquired       , NONE             , ENDED
        ENDED    , acquired late  , NONE             , ENDED
        ENDED    , contended      , NONE             , ENDED
        ENDED    , queued         , NONE             , ENDED
        ENDED    , failed         , NONE             , ENDED
        ENDED    , refused        , NONE             , ENDED
        ENDED    , stale answer   , NONE             , ENDED
        ENDED    , stale failure  , NONE             , ENDED
        ENDED    , armed          , NONE             , ENDED
        ENDED    , changed        , NONE             , ENDED
        ENDED    , lost           , NONE             , ENDED
        ENDED    , disarmed       , NONE             , ENDED
        ENDED    , granted        , NONE             , ENDED
        ENDED    , granted late   , NONE             , ENDED
        ENDED    , granted unknown, NONE             , ENDED
        ENDED    , pause over     , NONE             , ENDED
        ENDED    , timed out      , NONE             , ENDED
        ENDED    , closed         , NONE             , ENDED
        ENDED    , left           , NONE             , ENDED
        """)
    void eachEventHasOneOutcomeInEachPhase(Phase phase, String event, String action, Phase next) {
        Step step = happens(event, in(phase));

        assertThat(Acquiring.action(step)).isEqualTo(action);
        if (step.action() == Action.DELIVER) {
            assertThat(((LeaseState) step.state()).phase()).isEqualTo(LeaseState.Phase.HELD);
        } else {
            assertThat(step.acquiring().phase()).isEqualTo(next);
        }
    }

    private static AcquireState in(Phase phase) {
        AcquireState attempting = Acquiring.started(Mode.WAIT);
        AcquireState state = switch (phase) {
            case READY -> AcquireState.ready(0);
            case ATTEMPTING -> attempting;
            case PAUSING ->
                attempting.answered(1, Acquiring.queued(10_000), NOW, 0).acquiring();
            case LEAVING -> attempting.left().acquiring();
            case ENDED -> attempting.broken().acquiring();
        };
        assertThat(state.phase()).isEqualTo(phase);
        return state;
    }

    private static Step happens(String event, AcquireState state) {
        long late = Acquiring.millis(Acquiring.LEASE_MILLIS);
        return switch (event) {
            case "acquired" -> state.answered(1, Acquiring.acquired(), NOW, 0);
            case "acquired late" -> state.answered(1, Acquiring.acquired(), late, 0);
            case "contended" -> state.answered(1, Acquiring.contended(10_000), NOW, 0);
            case "queued" -> state.answered(1, Acquiring.queued(10_000), NOW, 0);
            case "failed" -> state.attemptFailed(1, Acquiring.failure(true), NOW, 0);
            case "refused" -> state.attemptFailed(1, Acquiring.failure(false), NOW, 0);
            case "stale answer" -> state.answered(2, Acquiring.acquired(), NOW, 0);
            case "stale failure" -> state.attemptFailed(2, Acquiring.failure(false), NOW, 0);
            case "armed" -> state.signalled(Acquiring.ARMED, Acquiring.ALL_SENT, NOW);
            case "changed" -> state.signalled(Acquiring.CHANGED, Acquiring.ALL_SENT, NOW);
            case "lost" -> state.signalled(Acquiring.LOST, Acquiring.ALL_SENT, NOW);
            case "disarmed" -> state.unwatched(NOW);
            case "granted" -> state.signalled(Acquiring.granted(1, 2_000), Acquiring.ALL_SENT, NOW);
            case "granted late" ->
                state.signalled(Acquiring.granted(1, 2_000), Acquiring.ALL_SENT, Acquiring.millis(1_978));
            case "granted unknown" -> state.signalled(Acquiring.granted(9, 2_000), Acquiring.ALL_SENT, NOW);
            case "pause over" -> state.pauseOver(NOW);
            case "timed out" -> state.timedOut();
            case "closed" -> state.closed();
            case "left" -> state.left();
            default -> throw new IllegalArgumentException(event);
        };
    }
}

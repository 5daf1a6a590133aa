package io.holdfast.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.internal.claim.AcquireState.Phase;
import io.holdfast.internal.claim.AcquireState.Step;
import io.holdfast.internal.engine.AcquirePlan.Mode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every phase with every event. */
class AcquireStateTableTest {

    private static final long NOW = Acquiring.millis(5);

    @ParameterizedTest(name = "{0} {1}: {2}, {3}")
    @CsvSource(textBlock = """
        # phase  , event          , action           , next phase
        READY    , acquired       , None             , READY
        READY    , acquired late  , None             , READY
        READY    , contended      , None             , READY
        READY    , queued         , None             , READY
        READY    , failed         , None             , READY
        READY    , refused        , None             , READY
        READY    , stale answer   , None             , READY
        READY    , stale failure  , None             , READY
        READY    , armed          , None             , READY
        READY    , changed        , None             , READY
        READY    , lost           , None             , READY
        READY    , disarmed       , None             , READY
        READY    , granted        , None             , READY
        READY    , granted late   , None             , READY
        READY    , granted unknown , None             , READY
        READY    , pause over     , None             , READY
        READY    , timed out      , TimedOut         , ENDED
        READY    , closed         , Closed           , ENDED
        READY    , left           , None             , ENDED
        ATTEMPTING  , acquired       , Deliver          , ENDED
        ATTEMPTING  , acquired late  , Pause            , PAUSING
        ATTEMPTING  , contended      , Pause            , PAUSING
        ATTEMPTING  , queued         , Pause            , PAUSING
        ATTEMPTING  , failed         , Pause            , PAUSING
        ATTEMPTING  , refused        , Failed           , ENDED
        ATTEMPTING  , stale answer   , None             , ATTEMPTING
        ATTEMPTING  , stale failure  , None             , ATTEMPTING
        ATTEMPTING  , armed          , None             , ATTEMPTING
        ATTEMPTING  , changed        , None             , ATTEMPTING
        ATTEMPTING  , lost           , None             , ATTEMPTING
        ATTEMPTING  , disarmed       , None             , ATTEMPTING
        ATTEMPTING  , granted        , Deliver          , ENDED
        ATTEMPTING  , granted late   , None             , ATTEMPTING
        ATTEMPTING  , granted unknown, None             , ATTEMPTING
        ATTEMPTING  , pause over     , None             , ATTEMPTING
        ATTEMPTING  , timed out      , TimedOut         , LEAVING
        ATTEMPTING  , closed         , Closed           , LEAVING
        ATTEMPTING  , left           , None             , LEAVING
        PAUSING  , acquired       , None             , PAUSING
        PAUSING  , acquired late  , None             , PAUSING
        PAUSING  , contended      , None             , PAUSING
        PAUSING  , queued         , None             , PAUSING
        PAUSING  , failed         , None             , PAUSING
        PAUSING  , refused        , None             , PAUSING
        PAUSING  , stale answer   , None             , PAUSING
        PAUSING  , stale failure  , None             , PAUSING
        PAUSING  , armed          , Attempt             , ATTEMPTING
        PAUSING  , changed        , Attempt             , ATTEMPTING
        PAUSING  , lost           , Attempt             , ATTEMPTING
        PAUSING  , disarmed       , Attempt             , ATTEMPTING
        PAUSING  , granted        , Deliver          , ENDED
        PAUSING  , granted late   , Attempt             , ATTEMPTING
        PAUSING  , granted unknown, Attempt             , ATTEMPTING
        PAUSING  , pause over     , Attempt             , ATTEMPTING
        PAUSING  , timed out      , TimedOut+withdraw, ENDED
        PAUSING  , closed         , Closed+withdraw  , ENDED
        PAUSING  , left           , Withdraw         , ENDED
        LEAVING  , acquired       , Withdraw         , ENDED
        LEAVING  , acquired late  , Withdraw         , ENDED
        LEAVING  , contended      , Withdraw         , ENDED
        LEAVING  , queued         , Withdraw         , ENDED
        LEAVING  , failed         , Withdraw         , ENDED
        LEAVING  , refused        , Withdraw         , ENDED
        LEAVING  , stale answer   , None             , LEAVING
        LEAVING  , stale failure  , None             , LEAVING
        LEAVING  , armed          , None             , LEAVING
        LEAVING  , changed        , None             , LEAVING
        LEAVING  , lost           , None             , LEAVING
        LEAVING  , disarmed       , None             , LEAVING
        LEAVING  , granted        , None             , LEAVING
        LEAVING  , granted late   , None             , LEAVING
        LEAVING  , granted unknown, None             , LEAVING
        LEAVING  , pause over     , None             , LEAVING
        LEAVING  , timed out      , None             , LEAVING
        LEAVING  , closed         , None             , LEAVING
        LEAVING  , left           , None             , LEAVING
        ENDED    , acquired       , None             , ENDED
        ENDED    , acquired late  , None             , ENDED
        ENDED    , contended      , None             , ENDED
        ENDED    , queued         , None             , ENDED
        ENDED    , failed         , None             , ENDED
        ENDED    , refused        , None             , ENDED
        ENDED    , stale answer   , None             , ENDED
        ENDED    , stale failure  , None             , ENDED
        ENDED    , armed          , None             , ENDED
        ENDED    , changed        , None             , ENDED
        ENDED    , lost           , None             , ENDED
        ENDED    , disarmed       , None             , ENDED
        ENDED    , granted        , None             , ENDED
        ENDED    , granted late   , None             , ENDED
        ENDED    , granted unknown, None             , ENDED
        ENDED    , pause over     , None             , ENDED
        ENDED    , timed out      , None             , ENDED
        ENDED    , closed         , None             , ENDED
        ENDED    , left           , None             , ENDED
        """)
    void eachEventHasOneOutcomeInEachPhase(Phase phase, String event, String action, Phase next) {
        Step step = happens(event, in(phase));

        assertThat(Acquiring.action(step)).isEqualTo(action);
        assertThat(step.state().phase()).isEqualTo(next);
    }

    private static AcquireState in(Phase phase) {
        AcquireState attempting = Acquiring.started(Mode.WAIT);
        AcquireState state = switch (phase) {
            case READY -> AcquireState.ready(false);
            case ATTEMPTING -> attempting;
            case PAUSING ->
                attempting.answered(1, Acquiring.queued(10_000), NOW, 0).state();
            case LEAVING -> attempting.left().state();
            case ENDED -> attempting.answered(1, Acquiring.acquired(), NOW, 0).state();
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
            case "armed" -> state.armed(NOW);
            case "changed" -> state.changed(NOW);
            case "lost" -> state.lost(NOW);
            case "disarmed" -> state.disarmed(NOW);
            case "granted" -> state.granted(Acquiring.granted(1, 2_000), true, NOW);
            case "granted late" -> state.granted(Acquiring.granted(1, 2_000), true, Acquiring.millis(1_978));
            case "granted unknown" -> state.granted(Acquiring.granted(9, 2_000), true, NOW);
            case "pause over" -> state.pauseOver(NOW);
            case "timed out" -> state.timedOut();
            case "closed" -> state.closed();
            case "left" -> state.left();
            default -> throw new IllegalArgumentException(event);
        };
    }
}

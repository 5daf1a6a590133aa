package io.holdfast.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LossReason;
import io.holdfast.internal.claim.ClaimState.Action;
import io.holdfast.internal.claim.ClaimState.Step;
import io.holdfast.internal.claim.LeaseState.Answered;
import io.holdfast.internal.claim.LeaseState.Certainty;
import io.holdfast.internal.claim.LeaseState.Hold;
import io.holdfast.internal.claim.LeaseState.Phase;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.WatchSignal;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Every phase with every event. The lease of 30 s is granted at 0, renewed at about 10 s, and ends at 29.698 s. */
class LeaseStateTableTest {

    private static final long LEASE = 30_000_000_000L;
    private static final long DEADLINE = 29_698_000_000L;
    private static final long EARLY = 1_000_000_000L;
    private static final long DUE = 10_000_000_000L;
    private static final List<String> EVENTS = List.of(
            "tick early",
            "tick due",
            "tick at deadline",
            "verify",
            "renewed",
            "renewed late",
            "denied",
            "failed",
            "failed late",
            "lost NOT_HELD",
            "lost DISCONNECTED",
            "closed",
            "release",
            "release late",
            "answered HELD",
            "answered NOT_HELD",
            "answered NOT_HELD again",
            "given up",
            "export",
            "export late",
            "downgrade",
            "downgrade late",
            "downgraded",
            "downgraded late",
            "downgrade failed",
            "downgrade failed late",
            "cancelled");

    /** A lease that waits for the end of its last renewal. */
    private static final List<String> EXPORTING = List.of(
            "renewed",
            "renewed late",
            "denied",
            "failed",
            "failed late",
            "lost NOT_HELD",
            "lost DISCONNECTED",
            "closed",
            "cancelled");

    /** A lease that becomes a read lease when its last renewal has ended. */
    private static final List<String> STOPPING = List.of(
            "tick at deadline",
            "renewed",
            "renewed late",
            "denied",
            "failed",
            "failed late",
            "lost NOT_HELD",
            "lost DISCONNECTED",
            "closed",
            "cancelled");

    /** A lease whose downgrade was sent to the back end. */
    private static final List<String> DOWNGRADING = List.of(
            "tick at deadline",
            "denied",
            "lost NOT_HELD",
            "lost DISCONNECTED",
            "closed",
            "verify",
            "downgraded",
            "downgraded late",
            "downgrade failed",
            "downgrade failed late",
            "cancelled");

    @ParameterizedTest(name = "{0} {1}: {2}, {3} {4}")
    @CsvSource(textBlock = """
        # phase  , event                  , action                 , next phase, loss
        HELD     , tick early             , NONE                   , HELD      ,
        HELD     , tick due               , RENEW                  , HELD      ,
        HELD     , tick at deadline       , SIGNAL_LOSS_AND_RELEASE, LOST      , EXPIRED
        HELD     , verify                 , NONE                   , HELD      ,
        HELD     , renewed                , NONE                   , HELD      ,
        HELD     , renewed late           , SIGNAL_LOSS_AND_RELEASE, LOST      , EXPIRED
        HELD     , denied                 , SIGNAL_LOSS            , LOST      , NOT_HELD
        HELD     , failed                 , NONE                   , HELD      ,
        HELD     , failed late            , SIGNAL_LOSS_AND_RELEASE, LOST      , EXPIRED
        HELD     , lost NOT_HELD          , SIGNAL_LOSS_AND_RELEASE, LOST      , NOT_HELD
        HELD     , lost DISCONNECTED      , SIGNAL_LOSS_AND_RELEASE, LOST      , DISCONNECTED
        HELD     , closed                 , SIGNAL_LOSS_AND_RELEASE, LOST      , CLIENT_CLOSED
        HELD     , release                , RELEASE                , RELEASING ,
        HELD     , release late           , SIGNAL_LOSS_AND_RELEASE, LOST      , EXPIRED
        HELD     , answered HELD          , NONE                   , HELD      ,
        HELD     , answered NOT_HELD      , NONE                   , HELD      ,
        HELD     , answered NOT_HELD again, NONE                   , HELD      ,
        HELD     , given up               , NONE                   , HELD      ,
        HELD     , export                 , EXPORT                 , EXPORTED  ,
        HELD     , export late            , SIGNAL_LOSS_AND_RELEASE, LOST      , EXPIRED
        EXPORTING, renewed                , EXPORT                 , EXPORTED  ,
        EXPORTING, renewed late           , SIGNAL_LOSS_AND_RELEASE, LOST      , EXPIRED
        EXPORTING, failed                 , EXPORT                 , EXPORTED  ,
        EXPORTING, failed late            , SIGNAL_LOSS_AND_RELEASE, LOST      , EXPIRED
        EXPORTING, denied                 , SIGNAL_LOSS            , LOST      , NOT_HELD
        EXPORTING, lost NOT_HELD          , SIGNAL_LOSS_AND_RELEASE, LOST      , NOT_HELD
        EXPORTING, lost DISCONNECTED      , SIGNAL_LOSS_AND_RELEASE, LOST      , DISCONNECTED
        EXPORTING, closed                 , SIGNAL_LOSS_AND_RELEASE, LOST      , CLIENT_CLOSED
        EXPORTING, cancelled              , RELEASE                , RELEASING ,
        HELD     , downgrade              , ASK_FOR_READ_LEASE     , DOWNGRADING,
        HELD     , downgrade late         , SIGNAL_LOSS_AND_RELEASE, LOST      , EXPIRED
        HELD     , downgraded             , NONE                   , HELD      ,
        HELD     , downgraded late        , NONE                   , HELD      ,
        HELD     , downgrade failed       , NONE                   , HELD      ,
        HELD     , downgrade failed late  , NONE                   , HELD      ,
        HELD     , cancelled              , NONE                   , HELD      ,
        STOPPING , tick at deadline       , SIGNAL_LOSS_AND_RELEASE, LOST      , EXPIRED
        STOPPING , renewed                , ASK_FOR_READ_LEASE     , DOWNGRADING,
        STOPPING , renewed late           , SIGNAL_LOSS_AND_RELEASE, LOST      , EXPIRED
        STOPPING , failed                 , ASK_FOR_READ_LEASE     , DOWNGRADING,
        STOPPING , failed late            , SIGNAL_LOSS_AND_RELEASE, LOST      , EXPIRED
        STOPPING , denied                 , SIGNAL_LOSS            , LOST      , NOT_HELD
        STOPPING , lost NOT_HELD          , SIGNAL_LOSS_AND_RELEASE, LOST      , NOT_HELD
        STOPPING , lost DISCONNECTED      , SIGNAL_LOSS_AND_RELEASE, LOST      , DISCONNECTED
        STOPPING , closed                 , SIGNAL_LOSS_AND_RELEASE, LOST      , CLIENT_CLOSED
        STOPPING , cancelled              , RELEASE                , RELEASING ,
        DOWNGRADING, tick at deadline       , SIGNAL_LOSS_AND_RELEASE, LOST      , EXPIRED
        DOWNGRADING, denied                 , SIGNAL_LOSS            , LOST      , NOT_HELD
        DOWNGRADING, lost NOT_HELD          , SIGNAL_LOSS_AND_RELEASE, LOST      , NOT_HELD
        DOWNGRADING, lost DISCONNECTED      , SIGNAL_LOSS_AND_RELEASE, LOST      , DISCONNECTED
        DOWNGRADING, closed                 , SIGNAL_LOSS_AND_RELEASE, LOST      , CLIENT_CLOSED
        DOWNGRADING, downgraded             , GO_ON_AS_READER        , HELD      ,
        DOWNGRADING, downgraded late        , SIGNAL_LOSS_AND_RELEASE, LOST      , EXPIRED
        DOWNGRADING, downgrade failed       , NONE                   , DOWNGRADING,
        DOWNGRADING, downgrade failed late  , SIGNAL_LOSS_AND_RELEASE, LOST      , EXPIRED
        DOWNGRADING, cancelled              , RELEASE                , RELEASING ,
        RELEASING, answered HELD          , SIGNAL_RELEASED        , RELEASED  ,
        RELEASING, answered NOT_HELD      , SIGNAL_LOSS            , LOST      , NOT_HELD
        RELEASING, answered NOT_HELD again, SIGNAL_RELEASED        , RELEASED  ,
        RELEASING, given up               , SIGNAL_RELEASED        , RELEASED  ,
        """)
    void eachEventHasOneOutcomeInEachPhase(Phase phase, String event, Action action, Phase next, LossReason loss) {
        Step step = happens(event, in(phase));

        assertThat(step.action()).isEqualTo(action);
        assertThat(step.lease().phase()).isEqualTo(next);
        assertThat(step.lease().lossReason()).isEqualTo(loss);
    }

    @ParameterizedTest
    @EnumSource(value = Phase.class, names = "HELD", mode = EnumSource.Mode.EXCLUDE)
    void eventsOutsideTheTableChangeNothing(Phase phase) {
        LeaseState state = in(phase);
        for (String event : EVENTS) {
            if (phase == Phase.RELEASING && (event.startsWith("answered") || event.equals("given up"))) {
                continue;
            }
            if ((phase == Phase.EXPORTING && EXPORTING.contains(event))
                    || (phase == Phase.STOPPING && STOPPING.contains(event))
                    || (phase == Phase.DOWNGRADING && DOWNGRADING.contains(event))) {
                continue;
            }
            Step step = happens(event, state);
            assertThat(step.lease()).as(event).isEqualTo(state);
            assertThat(step.action()).as(event).isEqualTo(Action.NONE);
        }
    }

    @Test
    void readLeaseAfterASignalIsRenewedAtOnce() {
        LeaseState reader =
                in(Phase.DOWNGRADING).downgraded(EARLY, LEASE, EARLY).lease();
        assertThat(reader.isReader()).isTrue();
        assertThat(reader.hold().attempt()).isEqualTo(2);
        assertThat(reader.wakeAtNanos()).isGreaterThan(EARLY + EARLY);

        Step signalled = in(Phase.DOWNGRADING).unwatched(EARLY);
        assertThat(signalled.action()).isEqualTo(Action.NONE);
        LeaseState doubted = signalled.lease().downgraded(EARLY, LEASE, EARLY).lease();
        assertThat(doubted.wakeAtNanos()).isEqualTo(EARLY);
    }

    @Test
    void failedDowngradeIsSentAgain() {
        LeaseState failed = in(Phase.DOWNGRADING).downgradeFailed(DUE).lease();
        assertThat(failed.wakeAtNanos()).isBetween(DUE + 1, DUE + EARLY);
        assertThat(failed.tick(failed.wakeAtNanos() - 1).action()).isEqualTo(Action.NONE);
        Step again = failed.tick(failed.wakeAtNanos());
        assertThat(again.action()).isEqualTo(Action.ASK_FOR_READ_LEASE);
        assertThat(again.lease().wakeAtNanos()).isEqualTo(DEADLINE);
        assertThat(again.lease().tick(DEADLINE - 1).action()).isEqualTo(Action.NONE);
    }

    @Test
    void downgradeWithAnEndedLeaseIsSentAgain() {
        Step late = in(Phase.DOWNGRADING).downgraded(EARLY, EARLY, DUE);
        assertThat(late.lease().phase()).isEqualTo(Phase.DOWNGRADING);
        assertThat(late.lease().wakeAtNanos()).isBetween(DUE + 1, DUE + EARLY);
    }

    private static LeaseState in(Phase phase) {
        LeaseState held = LeaseState.of(
                Hold.granted(7, 1, Answered.EACH, 0, Acquiring.terms(true, null)), 0, LEASE, Certainty.CONFIRMED);
        LeaseState state = switch (phase) {
            case HELD -> held;
            case RELEASING -> held.releaseAsked(EARLY).lease();
            case RELEASED ->
                held.releaseAsked(EARLY)
                        .lease()
                        .releaseAnswered(Ownership.HELD, false)
                        .lease();
            case LOST -> held.renewalDenied().lease();
            case EXPORTING -> held.tick(DUE).lease().exportAsked(DUE).lease();
            case EXPORTED -> held.exportAsked(EARLY).lease();
            case STOPPING -> held.tick(DUE).lease().downgradeAsked(DUE).lease();
            case DOWNGRADING -> held.downgradeAsked(EARLY).lease();
        };
        assertThat(state.phase()).isEqualTo(phase);
        return state;
    }

    private static Step happens(String event, LeaseState state) {
        return switch (Objects.requireNonNull(event)) {
            case "tick early" -> state.tick(EARLY);
            case "tick due" -> state.tick(DUE);
            case "tick at deadline" -> state.tick(DEADLINE);
            case "verify" -> state.unwatched(EARLY);
            case "renewed" -> state.renewed(DUE, LEASE, true, DUE + 1);
            case "renewed late" -> state.renewed(DUE, LEASE, true, DEADLINE);
            case "denied" -> state.renewalDenied();
            case "failed" -> state.renewalFailed(true, DUE);
            case "failed late" -> state.renewalFailed(true, DEADLINE);
            case "lost NOT_HELD" -> state.signalled(new WatchSignal.Lost(LossReason.NOT_HELD), 1, EARLY);
            case "lost DISCONNECTED" -> state.signalled(new WatchSignal.Lost(LossReason.DISCONNECTED), 1, EARLY);
            case "closed" -> state.closed();
            case "release" -> state.releaseAsked(EARLY);
            case "release late" -> state.releaseAsked(DEADLINE);
            case "answered HELD" -> state.releaseAnswered(Ownership.HELD, false);
            case "answered NOT_HELD" -> state.releaseAnswered(Ownership.NOT_HELD, false);
            case "answered NOT_HELD again" -> state.releaseAnswered(Ownership.NOT_HELD, true);
            case "given up" -> state.releaseGivenUp();
            case "export" -> state.exportAsked(EARLY);
            case "export late" -> state.exportAsked(DEADLINE);
            case "cancelled" -> state.successorCancelled();
            case "downgrade" -> state.downgradeAsked(EARLY);
            case "downgrade late" -> state.downgradeAsked(DEADLINE);
            case "downgraded" -> state.downgraded(EARLY, LEASE, EARLY + 1);
            case "downgraded late" -> state.downgraded(EARLY, LEASE, DEADLINE);
            case "downgrade failed" -> state.downgradeFailed(DUE);
            case "downgrade failed late" -> state.downgradeFailed(DEADLINE);
            default -> throw new IllegalArgumentException(event);
        };
    }
}

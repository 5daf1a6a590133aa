package io.holdfast.proof.hostile;

import io.holdfast.LocalHandOver;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.List;

/**
 * The settings of the locks, which all clients of a campaign share.
 *
 * @param target the back end
 * @param lease the lease duration; for ZooKeeper, the session time-out
 * @param flaw the defect on purpose
 * @param handsOver whether each process hands mutexes over inside itself
 */
record Terms(Target target, Duration lease, Flaw flaw, boolean handsOver) {

    /** The number of words of {@link #toText}. */
    static final int WORDS = 4;

    static Terms of(Target target) {
        return new Terms(target, target.lease(), Flaw.NONE, false);
    }

    Terms with(Flaw other) {
        return new Terms(target, lease, other, handsOver);
    }

    Terms with(Duration shorter) {
        return new Terms(target, shorter, flaw, handsOver);
    }

    Terms handingOver(boolean inside) {
        return new Terms(target, lease, flaw, inside);
    }

    /** Returns the back end as a client sees it. */
    LockBackend on(LockBackend backend) {
        return flaw.on(handsOver ? LocalHandOver.over(backend) : backend);
    }

    String toText() {
        return "%s %d %s %b".formatted(target.word(), lease.toMillis(), flaw.word(), handsOver);
    }

    static Terms parse(List<String> words) {
        return new Terms(
                Target.parse(words.get(0)),
                Duration.ofMillis(Long.parseLong(words.get(1))),
                Flaw.parse(words.get(2)),
                Boolean.parseBoolean(words.get(3)));
    }
}

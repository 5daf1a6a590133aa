package io.holdfast.proof.sim;

import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.internal.handover.HandOvers;
import io.holdfast.internal.handover.WrongHandOvers.Decisions;
import io.holdfast.spi.LockBackend;
import io.holdfast.zookeeper.WrongPart;
import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

/**
 * A small wrong variant of the product.
 *
 * @param name what is wrong
 * @param script what becomes of each script
 * @param member what becomes of the back end of one server
 * @param backend what becomes of the back end that the engine sees
 * @param session what becomes of a back end whose leases are as long as a session's time-out allows
 * @param hasQuarantine whether servers that come back without their data stay away
 * @param lock what becomes of the locks that users have
 * @param part of the back end for ZooKeeper that is wrong
 * @param handOver what decides on handing over inside a process
 * @param many what becomes of several locks together, with these in the order given
 */
record Mutant(
        String name,
        UnaryOperator<String> script,
        BiFunction<Host, LockBackend, LockBackend> member,
        BiFunction<Host, LockBackend, LockBackend> backend,
        BiFunction<Duration, LockBackend, LockBackend> session,
        boolean hasQuarantine,
        UnaryOperator<ReactiveLock> lock,
        WrongPart part,
        Decisions handOver,
        BiFunction<ReactiveMultiLock, List<ReactiveLock>, ReactiveMultiLock> many) {

    static final Mutant NONE = new Mutant(
            "none",
            it -> it,
            (host, it) -> it,
            (host, it) -> it,
            (t, it) -> it,
            true,
            it -> it,
            WrongPart.NONE,
            HandOvers::new,
            (it, given) -> it);

    /** A replacement in the scripts; those without the text stay as they are. */
    static Mutant script(String name, String text, String wrong) {
        return scripts(name, body -> body.replace(text, wrong));
    }

    static Mutant scripts(String name, UnaryOperator<String> wrong) {
        return new Mutant(
                name,
                wrong,
                NONE.member,
                NONE.backend,
                NONE.session,
                NONE.hasQuarantine,
                NONE.lock,
                NONE.part,
                NONE.handOver,
                NONE.many);
    }

    static Mutant member(String name, BiFunction<Host, LockBackend, LockBackend> wrong) {
        return new Mutant(
                name,
                NONE.script,
                wrong,
                NONE.backend,
                NONE.session,
                NONE.hasQuarantine,
                NONE.lock,
                NONE.part,
                NONE.handOver,
                NONE.many);
    }

    static Mutant backend(String name, BiFunction<Host, LockBackend, LockBackend> wrong) {
        return new Mutant(
                name,
                NONE.script,
                NONE.member,
                wrong,
                NONE.session,
                NONE.hasQuarantine,
                NONE.lock,
                NONE.part,
                NONE.handOver,
                NONE.many);
    }

    static Mutant session(String name, BiFunction<Duration, LockBackend, LockBackend> wrong) {
        return new Mutant(
                name,
                NONE.script,
                NONE.member,
                NONE.backend,
                wrong,
                NONE.hasQuarantine,
                NONE.lock,
                NONE.part,
                NONE.handOver,
                NONE.many);
    }

    static Mutant part(String name, WrongPart wrong) {
        return new Mutant(
                name,
                NONE.script,
                NONE.member,
                NONE.backend,
                NONE.session,
                NONE.hasQuarantine,
                NONE.lock,
                wrong,
                NONE.handOver,
                NONE.many);
    }

    static Mutant withoutQuarantine() {
        return new Mutant(
                "no quarantine",
                NONE.script,
                NONE.member,
                NONE.backend,
                NONE.session,
                false,
                NONE.lock,
                NONE.part,
                NONE.handOver,
                NONE.many);
    }

    static Mutant lock(String name, UnaryOperator<ReactiveLock> wrong) {
        return new Mutant(
                name,
                NONE.script,
                NONE.member,
                NONE.backend,
                NONE.session,
                NONE.hasQuarantine,
                wrong,
                NONE.part,
                NONE.handOver,
                NONE.many);
    }

    static Mutant handOver(String name, Decisions wrong) {
        return new Mutant(
                name,
                NONE.script,
                NONE.member,
                NONE.backend,
                NONE.session,
                NONE.hasQuarantine,
                NONE.lock,
                NONE.part,
                wrong,
                NONE.many);
    }

    static Mutant many(String name, BiFunction<ReactiveMultiLock, List<ReactiveLock>, ReactiveMultiLock> wrong) {
        return new Mutant(
                name,
                NONE.script,
                NONE.member,
                NONE.backend,
                NONE.session,
                NONE.hasQuarantine,
                NONE.lock,
                NONE.part,
                NONE.handOver,
                wrong);
    }

    @Override
    public String toString() {
        return name;
    }
}

package io.holdfast.proof.sim;

import io.holdfast.spi.LockBackend;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

/**
 * A small wrong variant of the product.
 *
 * @param name what is wrong
 * @param script what becomes of each script
 * @param member what becomes of the back end of one server
 * @param backend what becomes of the back end that the engine sees
 * @param hasQuarantine whether servers that come back without their data stay away
 */
record Mutant(
        String name,
        UnaryOperator<String> script,
        BiFunction<Host, LockBackend, LockBackend> member,
        BiFunction<Host, LockBackend, LockBackend> backend,
        boolean hasQuarantine) {

    static final Mutant NONE = new Mutant("none", it -> it, (host, it) -> it, (host, it) -> it, true);

    /** A replacement in the scripts; those without the text stay as they are. */
    static Mutant script(String name, String text, String wrong) {
        return new Mutant(name, body -> body.replace(text, wrong), (host, it) -> it, (host, it) -> it, true);
    }

    static Mutant member(String name, BiFunction<Host, LockBackend, LockBackend> wrong) {
        return new Mutant(name, it -> it, wrong, (host, it) -> it, true);
    }

    static Mutant backend(String name, BiFunction<Host, LockBackend, LockBackend> wrong) {
        return new Mutant(name, it -> it, (host, it) -> it, wrong, true);
    }

    static Mutant withoutQuarantine() {
        return new Mutant("no quarantine", it -> it, (host, it) -> it, (host, it) -> it, false);
    }

    @Override
    public String toString() {
        return name;
    }
}

package io.holdfast.examples.nightly;

import io.vertx.core.Future;
import java.time.LocalDate;
import java.util.List;

/**
 * Remembers which nights are done, and the highest token it has seen. The lock keeps two instances from working at the same time. This book keeps
 * them from doing the same night one after the other.
 */
interface NightBook {

    /** Returns whether this owner may begin: not if the night is done, and not if a later owner has begun. */
    Future<Boolean> begin(LocalDate night, long token);

    /** Writes the statements and marks the night as done, in one transaction, unless a later owner has begun meanwhile. */
    Future<Boolean> finish(LocalDate night, long token, List<Statement> statements);
}

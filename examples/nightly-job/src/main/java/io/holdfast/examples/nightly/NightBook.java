package io.holdfast.examples.nightly;

import io.vertx.core.Future;
import java.time.LocalDate;
import java.util.List;

/**
 * Remembers which nights are done, and the highest token it has seen. A lock keeps two from working at one time; only this keeps them from
 * working one after the other.
 */
interface NightBook {

    /** Whether this owner may begin: not if the night is done, and not if a later owner was here before. */
    Future<Boolean> begin(LocalDate night, long token);

    /** Writes the statements and that the night is done, all or nothing, unless a later owner has begun meanwhile. */
    Future<Boolean> finish(LocalDate night, long token, List<Statement> statements);
}

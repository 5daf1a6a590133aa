package io.holdfast.internal.tenure;

import io.holdfast.LockHolder;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What {@link ClaimTable} and {@link RunTable} decide alike. */
interface Decisions {

    /**
     * Returns the tenure to renew instead of a claim; null to renew the claim itself. The claim carries its lease
     * duration, which may be shorter than that of the tenure.
     */
    Reply.@Nullable Ask<Renewal> renew(LockClaim renewal, long now);

    /** Handles the answer to a renewal of a tenure for the claim with this id. */
    void renewed(Tenure tenure, String id, long sentAtNanos, Renewal answer, long now, List<Effect> out);

    /** Replaces a holder that the back end reports by the claim of this process that holds the lock now. */
    LockHolder holder(String name, LockHolder atStore);

    /** Describes the contents: a line for each claim, in no particular order. */
    List<String> contents();
}

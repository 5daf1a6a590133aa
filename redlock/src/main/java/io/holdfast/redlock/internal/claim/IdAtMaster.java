package io.holdfast.redlock.internal.claim;

/**
 * The id by which a master knows a claim: the claim's own id, with a number appended if the claim was released there
 * before. Pure.
 */
public final class IdAtMaster {

    /** A character that no id of the engine and no label of an owner has. */
    private static final char MARK = '~';

    private IdAtMaster() {}

    static String of(String claimId, int timesReleased) {
        return timesReleased == 0 ? claimId : claimId + MARK + timesReleased;
    }

    /** Returns the id of the claim that a master knows by that id: the same one for all masters. */
    public static String claimId(String idAtMaster) {
        int mark = idAtMaster.lastIndexOf(MARK);
        return mark < 0 ? idAtMaster : idAtMaster.substring(0, mark);
    }
}

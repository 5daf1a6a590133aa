package io.holdfast.redlock.internal.claim;

/** The id by which a master knows a claim: that of the claim, and with a number behind it when the claim was released there before. Pure. */
public final class IdAtMaster {

    /** In no id that the engine makes, and in no label of an owner. */
    private static final char MARK = '~';

    private IdAtMaster() {}

    static String of(String claimId, int timesReleased) {
        return timesReleased == 0 ? claimId : claimId + MARK + timesReleased;
    }

    /** The id of the claim that a master knows by that id: the same one for all masters. */
    public static String claimId(String idAtMaster) {
        int mark = idAtMaster.lastIndexOf(MARK);
        return mark < 0 ? idAtMaster : idAtMaster.substring(0, mark);
    }
}

package io.holdfast.r2dbc.internal.dialect;

/** Another transaction has locked the row of a call for the time that a call may wait. */
public final class RowLockedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public RowLockedException() {
        super("its row is locked", null, false, false);
    }
}

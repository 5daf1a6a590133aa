package io.holdfast.r2dbc.internal.dialect;

/**
 * The meaning of an error.
 *
 * @param isTransient whether the same request may succeed later, without a change of settings
 * @param keepsConnection whether the connection can be used again
 * @param advice what to do
 */
public record KnownError(boolean isTransient, boolean keepsConnection, String advice) {}

package io.holdfast.r2dbc.internal.dialect;

/**
 * What an error means.
 *
 * @param isTransient whether the same request may succeed later, without a change of settings
 * @param keepsConnection whether the connection can be used again
 * @param advice what to do
 */
public record KnownError(boolean isTransient, boolean keepsConnection, String advice) {}

package io.holdfast.redlock.internal.master;

/**
 * Receives the answers of the masters to one {@link QuorumRequest}: one call for each master of the request, in any
 * order, on any thread.
 */
public interface ResponseHandler<A> {

    void heard(int master, A answer);

    void failed(int master, Throwable why);
}

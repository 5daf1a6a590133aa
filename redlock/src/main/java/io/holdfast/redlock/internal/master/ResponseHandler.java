package io.holdfast.redlock.internal.master;

/** Told what the masters answer to one {@link QuorumRequest}: once for each master that was asked, in any order, on any thread. */
public interface ResponseHandler<A> {

    void heard(int master, A answer);

    void failed(int master, Throwable why);
}

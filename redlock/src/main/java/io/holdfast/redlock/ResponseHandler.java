package io.holdfast.redlock;

/** Told what the masters answer to one {@link QuorumRequest}: once for each master that was asked, in any order, on any thread. */
interface ResponseHandler<A> {

    void heard(int master, A answer);

    void failed(int master, Throwable why);
}

package io.holdfast.internal.claim;

/** What follows a lease that ends without a release: a text for another process, or a read lease. */
interface Successor {

    /** Handles the loss of the lease: nothing follows. */
    void failed(Throwable why);
}

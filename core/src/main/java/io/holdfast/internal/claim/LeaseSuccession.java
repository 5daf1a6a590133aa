package io.holdfast.internal.claim;

/** The successor of a lease that ends without a release: a text for another process, or a read lease. */
interface LeaseSuccession {

    /** Handles the loss of the lease: there is no successor. */
    void failed(Throwable why);
}

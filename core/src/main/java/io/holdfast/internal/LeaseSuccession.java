package io.holdfast.internal;

/** What follows a lease that ends without a release: its text for another process, or a read lease. */
interface LeaseSuccession {

    /** Nothing follows: the lease was lost. */
    void failed(Throwable why);
}

package io.holdfast.spring;

import io.holdfast.LockClient;
import io.holdfast.spi.LockBackend;

/** Wraps the client after it was made. */
@FunctionalInterface
interface LockClientDecorator {

    LockClient decorate(LockClient client, LockBackend backend);
}

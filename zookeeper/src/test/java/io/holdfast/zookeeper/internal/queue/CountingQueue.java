package io.holdfast.zookeeper.internal.queue;

import java.util.List;

/** Counts how often all first claims are collected. */
public final class CountingQueue<C> extends LockQueue<C> {

    private int collected;

    @Override
    public List<C> first() {
        collected++;
        return super.first();
    }

    public int collected() {
        return collected;
    }
}

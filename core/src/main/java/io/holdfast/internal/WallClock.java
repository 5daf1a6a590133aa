package io.holdfast.internal;

/**
 * The time of day, which jumps when a snapshot of a process is restored. It decides when a seed is old, and nothing else: how long something
 * lasts is never measured with it.
 */
interface WallClock {

    WallClock OF_SYSTEM = System::currentTimeMillis;

    long millis();
}

package io.holdfast.internal.engine;

/**
 * The time of day, which jumps when a snapshot of a process is restored. It decides only when a seed is old: it never
 * measures how long something lasts.
 */
interface WallClock {

    WallClock OF_SYSTEM = System::currentTimeMillis;

    long millis();
}

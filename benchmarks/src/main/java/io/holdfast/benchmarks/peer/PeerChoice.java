package io.holdfast.benchmarks.peer;

import java.util.stream.Stream;

/** A way to lock, with a name that another process can parse. */
public interface PeerChoice {

    /** Opens a client of its own. */
    Peer open(Addresses addresses);

    /** Returns the name of the constant. */
    String name();

    /** Returns the text that {@link #parse} reads. */
    default String fullName() {
        return getClass().getSimpleName() + "." + name();
    }

    /**
     * Finds the choice again.
     *
     * @throws IllegalArgumentException if no way to lock has that name
     */
    static PeerChoice parse(String fullName) {
        return Stream.<PeerChoice[]>of(
                        RedisPeer.values(), ZooKeeperPeer.values(), QuorumPeer.values(), PostgresPeer.values())
                .flatMap(Stream::of)
                .filter(it -> it.fullName().equals(fullName))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no way to lock is called '%s'".formatted(fullName)));
    }
}

package io.holdfast.benchmarks.peer;

import java.util.stream.Stream;

/** A way to lock that has a name which another process understands. */
public interface PeerChoice {

    /** Opens a client of its own. */
    Peer open(Addresses addresses);

    /** Of the constant. */
    String name();

    /** What {@link #parse} makes this of. */
    default String fullName() {
        return getClass().getSimpleName() + "." + name();
    }

    /**
     * Finds the choice again.
     *
     * @throws IllegalArgumentException if there is none of that name
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

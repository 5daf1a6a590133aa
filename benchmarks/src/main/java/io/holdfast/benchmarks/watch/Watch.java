package io.holdfast.benchmarks.watch;

import io.holdfast.benchmarks.crowd.CrowdedLock;
import io.holdfast.benchmarks.crowd.Kind;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.PostgresPeer;
import io.holdfast.benchmarks.peer.RedisPeer;
import io.holdfast.benchmarks.peer.ZooKeeperPeer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** One observation in a JVM of its own. */
public final class Watch {

    private Watch() {}

    /**
     * Runs an observation, and writes its result.
     *
     * @param args the file to write, the seconds of warm-up, the name of the observation, and its arguments
     * @throws IOException if the file cannot be written
     */
    public static void main(String[] args) throws IOException {
        Addresses addresses = Addresses.given();
        int warmUpSeconds = number(args[1]);
        Observation seen = switch (args[2]) {
            case "CrowdedLock" ->
                CrowdedLock.watch(addresses, Kind.valueOf(args[3]), warmUpSeconds, number(args[4]), number(args[5]));
            case "HandOff" ->
                HandOff.watch(addresses, RedisPeer.valueOf(args[3]), number(args[4]), warmUpSeconds, number(args[5]));
            case "Commands" -> Commands.watch(addresses, RedisPeer.valueOf(args[3]), number(args[4]));
            case "DatabaseCosts" -> DatabaseCosts.watch(addresses, PostgresPeer.valueOf(args[3]), number(args[4]));
            case "ElectionHandOver" ->
                ElectionHandOver.watch(
                        addresses,
                        Candidate.Store.valueOf(args[3]),
                        ElectionHandOver.End.valueOf(args[4]),
                        number(args[5]),
                        number(args[6]));
            case "ManyClients" ->
                ManyClients.watch(
                        addresses,
                        ManyClients.Load.valueOf(args[3]),
                        number(args[4]),
                        number(args[5]),
                        warmUpSeconds,
                        number(args[6]));
            case "HeldLeases" -> HeldLeases.watch(addresses, number(args[3]), warmUpSeconds, number(args[4]));
            case "WaitingThreads" -> WaitingThreads.watch(addresses, ZooKeeperPeer.valueOf(args[3]), number(args[4]));
            default -> throw new IllegalArgumentException("no observation is called '%s'".formatted(args[2]));
        };
        Path unused = Files.writeString(Path.of(args[0]), seen.toJson());
        // Does not wait for threads that a peer has left behind.
        System.exit(0);
    }

    private static int number(String text) {
        return Integer.parseInt(text);
    }
}

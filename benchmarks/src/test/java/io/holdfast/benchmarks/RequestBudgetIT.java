package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.Peer;
import io.holdfast.benchmarks.peer.ZooKeeperPeer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** What the whole client sends to ZooKeeper, counted by the server: it does not depend on how fast the machine is. */
class RequestBudgetIT {

    private static final int CYCLES = 200;

    /** Pings of the session, reads that keep a lease, and the question itself. */
    private static final int NOW_AND_THEN = CYCLES / 10;

    private static final Pattern RECEIVED = Pattern.compile("Received: (\\d+)");

    /** Create, delete: the number of the node tells that no other client came in between. A lock that is held for a moment only is not watched. */
    @Test
    void uncontendedCycleIsTwoRequests() throws Exception {
        try (TestingServer server = new TestingServer(true);
                Peer peer = ZooKeeperPeer.HOLDFAST.open(
                        new Addresses("", List.of(), List.of(), server.getConnectString()))) {
            cycles(peer, 10);
            long before = received(server.getPort());
            cycles(peer, CYCLES);
            long requests = received(server.getPort()) - before;
            System.out.printf("[holdfast] ZooKeeper requests for %d uncontended cycles: %d%n", CYCLES, requests);
            assertThat(requests).isBetween(2L * CYCLES, 2L * CYCLES + NOW_AND_THEN);
        }
    }

    private static void cycles(Peer peer, int count) {
        Object unused =
                peer.cycle("orders", Mono.empty()).repeat(count - 1L).then().block(Duration.ofSeconds(60));
    }

    private static long received(int port) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            Matcher line = RECEIVED.matcher(answer);
            assertThat(line.find()).as(answer).isTrue();
            return Long.parseLong(line.group(1));
        }
    }
}

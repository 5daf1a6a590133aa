package io.holdfast.testkit.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FreePortsTest {

    @Test
    void noPortIsGivenTwice() {
        List<Integer> ports =
                IntStream.range(0, 100).mapToObj(i -> FreePorts.next()).toList();

        assertThat(ports).doesNotHaveDuplicates().allMatch(port -> port >= 10_000 && port < 20_000);
    }

    @Test
    void aServerCanListenAtThePort() throws IOException {
        try (ServerSocket server = new ServerSocket(FreePorts.next(), 1, InetAddress.getLoopbackAddress())) {
            assertThat(server.isBound()).isTrue();
        }
    }
}

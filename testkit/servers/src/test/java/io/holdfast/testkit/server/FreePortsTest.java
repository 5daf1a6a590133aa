package io.holdfast.testkit.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FreePortsTest {

    @Test
    void noPortIsGivenTwice() {
        assertThat(ports(150)).doesNotHaveDuplicates().allMatch(port -> port >= 10_000 && port < 20_000);
    }

    @Test
    void aServerCanListenAtThePort() throws IOException {
        try (ServerSocket server = new ServerSocket(FreePorts.next(), 1, InetAddress.getLoopbackAddress())) {
            assertThat(server.isBound()).isTrue();
        }
    }

    @Test
    void anotherProcessGetsOtherBlocks() throws IOException {
        int lowest = tenInARow();
        PortBlocks blocks = new PortBlocks(lowest, 10, 1);
        Set<Integer> ours = new HashSet<>();
        for (int i = 0; i < 6; i++) {
            assertThat(ours.add(blocks.take().first())).isTrue();
        }

        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        TakesBlocks.class.getName(),
                        Integer.toString(lowest))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<Integer> theirs = other.inputReader(StandardCharsets.UTF_8)
                .lines()
                .map(Integer::valueOf)
                .toList();

        assertThat(theirs).hasSize(4).doesNotContainAnyElementsOf(ours);
        assertThat(other.onExit().join().exitValue()).isZero();
        // Its blocks are free again.
        for (int i = 0; i < 4; i++) {
            assertThat(ours.add(blocks.take().first())).isTrue();
        }
        assertThat(ours).hasSize(10);
        assertThatIllegalStateException().isThrownBy(blocks::take).withMessageContaining("no free port from");
    }

    /** Returns the first of ten free ports in a row, which {@link FreePorts} does not give again. */
    private static int tenInARow() {
        int first = FreePorts.next();
        int last = first;
        while (last < first + 9) {
            int next = FreePorts.next();
            first = next == last + 1 ? first : next;
            last = next;
        }
        return first;
    }

    private static List<Integer> ports(int count) {
        return IntStream.range(0, count).mapToObj(i -> FreePorts.next()).toList();
    }

    /** Takes four of the blocks, prints them, and ends. */
    static final class TakesBlocks {

        private TakesBlocks() {}

        public static void main(String[] args) {
            PortBlocks blocks = new PortBlocks(Integer.parseInt(args[0]), 10, 1);
            IntStream.range(0, 4).forEach(i -> System.out.println(blocks.take().first()));
        }
    }
}

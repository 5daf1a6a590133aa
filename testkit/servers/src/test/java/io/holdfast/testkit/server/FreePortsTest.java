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
import org.junit.jupiter.api.io.TempDir;

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
    void anotherProcessGetsOtherBlocks(@TempDir Path folder) throws IOException {
        PortBlocks blocks = new PortBlocks(folder);
        Set<Integer> ours = new HashSet<>();
        for (int i = 0; i < 60; i++) {
            assertThat(ours.add(blocks.take())).isTrue();
        }

        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        TakesBlocks.class.getName(),
                        folder.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<Integer> theirs = other.inputReader(StandardCharsets.UTF_8)
                .lines()
                .map(Integer::valueOf)
                .toList();

        assertThat(theirs).hasSize(40).doesNotContainAnyElementsOf(ours);
        assertThat(other.onExit().join().exitValue()).isZero();
        // Its locks ended with it.
        IntStream.range(0, 40).forEach(i -> assertThat(ours.add(blocks.take())).isTrue());
        assertThat(ours).hasSize(100);
        assertThatIllegalStateException().isThrownBy(blocks::take).withMessageContaining(folder.toString());
    }

    private static List<Integer> ports(int count) {
        return IntStream.range(0, count).mapToObj(i -> FreePorts.next()).toList();
    }

    /** Takes every block that is left. */
    static final class TakesBlocks {

        private TakesBlocks() {}

        public static void main(String[] args) {
            PortBlocks blocks = new PortBlocks(Path.of(args[0]));
            IntStream.range(0, 40).forEach(i -> System.out.println(blocks.take()));
        }
    }
}

package io.holdfast.testkit.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A server belongs to its JVM. */
class ServerLifetimeIT {

    @Test
    void serverOfAKilledJvmEnds() throws IOException {
        Process owner = owner();
        try {
            ProcessHandle server = serverOf(owner);
            assertThat(server.isAlive()).isTrue();
            owner.destroyForcibly();
            assertThat(server.onExit()).succeedsWithin(Duration.ofSeconds(10));
        } finally {
            owner.destroyForcibly();
        }
    }

    @Test
    void frozenServerOfAKilledJvmEnds() throws IOException {
        Process owner = owner();
        try {
            ProcessHandle server = serverOf(owner);
            Process stop = new ProcessBuilder("kill", "-STOP", Long.toString(server.pid())).start();
            assertThat(stop.onExit().join().exitValue()).isZero();
            owner.destroyForcibly();
            assertThat(server.onExit()).succeedsWithin(Duration.ofSeconds(10));
        } finally {
            owner.destroyForcibly();
        }
    }

    @Test
    void closedServerLeavesNoProcess() {
        long before = ProcessHandle.current().descendants().count();
        RedisServer redis = RedisServer.start();
        redis.restart();
        Optional<ProcessHandle> server =
                redis.pid().stream().mapToObj(ProcessHandle::of).findFirst().orElseThrow();
        assertThat(server.flatMap(it -> it.info().command()))
                .hasValueSatisfying(it -> assertThat(it).contains("redis"));
        ProcessHandle guard = server.orElseThrow().children().findFirst().orElseThrow();
        redis.close();
        assertThat(guard.onExit()).succeedsWithin(Duration.ofSeconds(10));
        assertThat(ProcessHandle.current().descendants().count()).isEqualTo(before);
    }

    private static Process owner() throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String switchTo = System.getProperty(RedisServer.SWITCH, "auto");
        String choice = switchTo.equals("docker") || switchTo.equals("auto") ? "embedded" : switchTo;
        return new ProcessBuilder(
                        java,
                        "-D" + RedisServer.SWITCH + "=" + choice,
                        "-cp",
                        System.getProperty("java.class.path"),
                        Owner.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static ProcessHandle serverOf(Process owner) throws IOException {
        BufferedReader out = owner.inputReader();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.startsWith("pid ")) {
                return ProcessHandle.of(Long.parseLong(line.substring(4))).orElseThrow();
            }
        }
        throw new AssertionError("the owner told no process id");
    }
}

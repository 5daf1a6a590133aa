package io.holdfast.testkit.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server ends with its JVM. */
class ServerLifetimeIT {

    @TempDir
    private Path temporary;

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
            Signals.pause(server.pid());
            owner.destroyForcibly();
            assertThat(server.onExit()).succeedsWithin(Duration.ofSeconds(10));
        } finally {
            owner.destroyForcibly();
        }
    }

    /** Like the kill of the session leader of a terminal: the kernel sends SIGHUP to all processes of the session. */
    @Test
    void serverOfAJvmWhoseTerminalIsClosedEnds() throws IOException {
        Process owner = owner();
        try {
            ProcessHandle server = serverOf(owner);
            ProcessHandle guard = server.children().findFirst().orElseThrow();
            for (ProcessHandle it : List.of(guard, server)) {
                Signals.send("HUP", it.pid());
            }
            owner.destroyForcibly();
            assertThat(server.onExit()).succeedsWithin(Duration.ofSeconds(10));
            assertThat(guard.onExit()).succeedsWithin(Duration.ofSeconds(10));
        } finally {
            owner.destroyForcibly();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void filesOfAJvmThatEndsAreRemoved(boolean isKilled) throws IOException {
        Process owner = owner();
        try {
            ProcessHandle server = serverOf(owner);
            ProcessHandle guard = server.children().findFirst().orElseThrow();
            assertThat(temporary).isNotEmptyDirectory();
            if (isKilled) {
                owner.destroyForcibly();
            } else {
                owner.destroy(); // as Ctrl-C does
            }
            assertThat(owner.onExit()).succeedsWithin(Duration.ofSeconds(10));
            assertThat(guard.onExit()).succeedsWithin(Duration.ofSeconds(10));
            assertThat(temporary).isEmptyDirectory();
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

    private Process owner() throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String switchTo = System.getProperty(RedisServer.SWITCH, "auto");
        String choice = switchTo.equals("docker") || switchTo.equals("auto") ? "embedded" : switchTo;
        return new ProcessBuilder(
                        java,
                        "-D" + RedisServer.SWITCH + "=" + choice,
                        "-Djava.io.tmpdir=" + temporary,
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
        throw new AssertionError("the owner printed no process id");
    }
}

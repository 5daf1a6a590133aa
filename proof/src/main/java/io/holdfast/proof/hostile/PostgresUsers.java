package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.function.Supplier;

/**
 * The role of the lock clients in PostgreSQL, and the file with its password. It is the only role with a password. Clients read the file for each
 * connection. A role has one password at a time, so the server refuses new connections between the change at the server and that in the file.
 */
final class PostgresUsers {

    /** The role of the lock clients. */
    static final String CLIENT = "holdfast";

    private final Path secret;

    /** Written by the thread that rotates passwords; read by the thread that promotes servers. */
    private volatile int rotations;

    PostgresUsers(Path folder) {
        secret = folder.toAbsolutePath().resolve("password.txt");
        hand();
    }

    /** The statements for the first server; replicas copy the role. */
    List<String> setUp() {
        return List.of(
                "create role %s login superuser".formatted(CLIENT),
                alter(),
                """
                do $$ begin execute format(
                  'copy (values (''host all %s all scram-sha-256''), (''local all all trust''), (''host all all all trust''),'
                  || ' (''host replication all all trust'')) to %%L', current_setting('hba_file')); end $$""".formatted(CLIENT),
                "select pg_reload_conf()");
    }

    private String alter() {
        return "alter role %s password '%s'".formatted(CLIENT, password());
    }

    private String password() {
        return "password-" + rotations;
    }

    String secret() {
        return secret.toString();
    }

    /** Reads the file each time. */
    static Supplier<CharSequence> passwordIn(Path secret) {
        return () -> {
            try {
                return Files.readString(secret);
            } catch (IOException e) {
                throw new UncheckedIOException("the password cannot be read", e);
            }
        };
    }

    void rotate(Supplier<PostgresServer> primary, Strike strike) throws InterruptedException {
        // One thread rotates.
        int next = rotations + 1;
        rotations = next;
        enforce(primary);
        strike.last();
        hand();
        PostgresOperator.insist(
                primary,
                "select pg_terminate_backend(pid) from pg_stat_activity where usename = '%s'".formatted(CLIENT));
    }

    /** Sets the password again: a promotion may have lost the last one. */
    void enforce(Supplier<PostgresServer> primary) throws InterruptedException {
        PostgresOperator.insist(primary, alter());
    }

    /** Replaces the file atomically: a reader sees the old text or the new one. */
    private void hand() {
        try {
            Path written = Files.writeString(secret.resolveSibling("password.new"), password());
            Path unused =
                    Files.move(written, secret, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("the password cannot be written", e);
        }
    }
}

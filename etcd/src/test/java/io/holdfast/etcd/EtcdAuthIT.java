package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.Auth;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.auth.Permission;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.testkit.server.EtcdServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** Servers with users, and tokens that expire after two seconds. */
class EtcdAuthIT {

    private static final Duration TOKEN_TIME = Duration.ofSeconds(2);
    private static final String PASSWORD = "a password";

    @TempDir
    private static Path folder;

    private static EtcdServer simple;
    private static EtcdServer jwt;
    private static final List<Client> clients = new ArrayList<>();

    @BeforeAll
    static void start() throws IOException, GeneralSecurityException {
        EtcdStore.needsEtcd();
        String seconds = Long.toString(TOKEN_TIME.toSeconds());
        simple = EtcdServer.start("--auth-token-ttl", seconds, "--bcrypt-cost", "4");
        KeyPairGenerator maker = KeyPairGenerator.getInstance("RSA");
        maker.initialize(2048);
        KeyPair keys = maker.generateKeyPair();
        jwt = EtcdServer.start(
                "--auth-token",
                "jwt,pub-key=%s,priv-key=%s,sign-method=RS256,ttl=%ss"
                        .formatted(
                                file("public.pem", "PUBLIC KEY", keys.getPublic()),
                                file("private.pem", "PRIVATE KEY", keys.getPrivate()),
                                seconds),
                "--bcrypt-cost",
                "4");
        addUsers(simple);
        addUsers(jwt);
    }

    private static Path file(String name, String kind, Key key) throws IOException {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key.getEncoded());
        return Files.writeString(
                folder.resolve(name), "-----BEGIN %s-----%n%s%n-----END %s-----%n".formatted(kind, text, kind));
    }

    private static void addUsers(EtcdServer server) {
        try (Client root = Client.builder().endpoints(server.endpoint()).build()) {
            Auth auth = root.getAuthClient();
            add(auth, "root", "root", "", "");
            add(auth, "locks", "of-locks", "holdfast/", "holdfast0");
            add(auth, "other", "of-others", "other/", "other0");
            Waiting.forMono(Mono.fromFuture(auth.authEnable()));
        }
    }

    /** Adds a user with the right to read and write the keys from the first one to the end. */
    private static void add(Auth auth, String user, String role, String from, String to) {
        Waiting.forMono(Mono.fromFuture(auth.userAdd(EtcdStore.bytes(user), EtcdStore.bytes(PASSWORD))));
        Waiting.forMono(Mono.fromFuture(auth.roleAdd(EtcdStore.bytes(role))));
        if (!from.isEmpty()) {
            ByteSequence first = EtcdStore.bytes(from);
            Waiting.forMono(Mono.fromFuture(auth.roleGrantPermission(
                    EtcdStore.bytes(role), first, EtcdStore.bytes(to), Permission.Type.READWRITE)));
        }
        Waiting.forMono(Mono.fromFuture(auth.userGrantRole(EtcdStore.bytes(user), EtcdStore.bytes(role))));
    }

    @AfterAll
    static void stop() {
        clients.forEach(Client::close);
        if (simple != null) {
            simple.close();
        }
        if (jwt != null) {
            jwt.close();
        }
    }

    private static EtcdLockBackend backend(EtcdServer server, String user, String password) {
        Client client = Client.builder()
                .endpoints(server.endpoint())
                .user(EtcdStore.bytes(user))
                .password(EtcdStore.bytes(password))
                .build();
        clients.add(client);
        return EtcdLockBackend.builder(client).presence(Duration.ofSeconds(2)).build();
    }

    private static LockClient locks(EtcdServer server) {
        LockOptions options =
                LockOptions.builder().leaseDuration(Duration.ofSeconds(3)).build();
        return LockClient.builder(backend(server, "locks", PASSWORD))
                .options(options)
                .build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"simple", "jwt"})
    void locksAreHeldAndHandedOnWhileTokensExpire(String kind) throws Exception {
        EtcdServer server = kind.equals("jwt") ? jwt : simple;
        LockClient locks = locks(server);
        LockClient others = locks(server);
        LockLease holder = Waiting.forMono(locks.lock("held").acquire());
        CompletableFuture<LockLease> waiting = others.lock("held").acquire().toFuture();
        Waiting.pass(TOKEN_TIME.multipliedBy(5).dividedBy(2));
        assertThat(holder.isValid()).isTrue();
        assertThat(waiting).isNotDone();
        Waiting.forMono(holder.release().thenReturn(true));
        LockLease next = waiting.get(2, TimeUnit.SECONDS);
        assertThat(next.fencingToken()).isGreaterThan(holder.fencingToken());
        Waiting.forMono(next.release().thenReturn(true));
        Waiting.forMono(Mono.when(locks.close(), others.close()).thenReturn(true));
    }

    @Test
    void wrongPasswordIsAPermanentError() {
        EtcdLockBackend backend = backend(simple, "locks", "another password");
        LockClient locks = LockClient.create(backend);
        assertThatThrownBy(() -> Waiting.forMono(locks.lock("any").tryAcquire()))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.isTransient()).isFalse())
                .hasMessageContaining("invalid user ID or password")
                .hasMessageContaining("Does etcd know the user of the client, with this password?");
        Waiting.forMono(locks.close().thenReturn(true));
    }

    @Test
    void missingRightIsAPermanentErrorThatNamesIt() {
        LockClient locks = LockClient.create(backend(simple, "other", PASSWORD));
        assertThatThrownBy(() -> Waiting.forMono(locks.lock("any").tryAcquire()))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.isTransient()).isFalse())
                .hasMessageContaining("permission denied")
                .hasMessageContaining("needs the right to read and write all keys under the prefix");
        Waiting.forMono(locks.close().thenReturn(true));
    }
}

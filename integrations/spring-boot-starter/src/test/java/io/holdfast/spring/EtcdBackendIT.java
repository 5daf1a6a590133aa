package io.holdfast.spring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.etcd.jetcd.Auth;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.auth.Permission;
import io.etcd.jetcd.options.GetOption;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.testkit.server.EtcdServer;
import io.holdfast.testkit.server.TlsFront;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.scheduler.Schedulers;

/** Locks in etcd from properties, on a real server. */
class EtcdBackendIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    private static Path folder;

    private static EtcdServer server;

    private final ReactiveWebApplicationContextRunner runner = new ReactiveWebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    SslAutoConfiguration.class,
                    ServiceConnectionAutoConfiguration.class,
                    HoldfastAutoConfiguration.class,
                    HoldfastHealthAutoConfiguration.class))
            .withPropertyValues("holdfast.backend=etcd");

    @BeforeAll
    static void start() {
        assumeTrue(EtcdServer.isHere(), "no etcd on the PATH");
        server = EtcdServer.start();
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, UTF_8);
    }

    private static LockLease acquired(LockClient locks, String name) {
        return locks.lock(name).acquire().block(PATIENCE);
    }

    private static Status health(ReactiveHealthIndicator indicator) {
        return indicator.health().block(PATIENCE).getStatus();
    }

    @Test
    void keysAreUnderThePrefixAndHealthIsUp() throws Exception {
        try (Client eye = Client.builder().endpoints(server.endpoint()).build()) {
            runner.withPropertyValues(
                            "holdfast.etcd.endpoints=" + server.endpoint(), "holdfast.etcd.key-prefix=shop/locks")
                    .run(context -> {
                        LockLease lease = acquired(context.getBean(LockClient.class), "stock/42");
                        assertThat(eye.getKVClient()
                                        .get(
                                                bytes("shop/locks/line/"),
                                                GetOption.builder()
                                                        .isPrefix(true)
                                                        .build())
                                        .get(30, TimeUnit.SECONDS)
                                        .getCount())
                                .isEqualTo(1);
                        assertThat(health(context.getBean(ReactiveHealthIndicator.class)))
                                .isEqualTo(Status.UP);
                        lease.release().block(PATIENCE);
                    });
        }
    }

    @Test
    void healthIsDownWithoutAServer() {
        runner.withPropertyValues("holdfast.warm-up-timeout=0s", "holdfast.etcd.endpoints=http://127.0.0.1:1")
                .run(context -> assertThat(health(context.getBean(ReactiveHealthIndicator.class)))
                        .isEqualTo(Status.DOWN));
    }

    @Test
    void theFirstLockMayComeFromAThreadThatMustNotBlock() {
        runner.withPropertyValues(
                        "holdfast.warm-up-timeout=0s", "holdfast.etcd.endpoints=http://localhost:" + server.port())
                .run(context -> context.getBean(LockClient.class)
                        .lock("named")
                        .acquire()
                        .flatMap(LockLease::release)
                        .subscribeOn(Schedulers.parallel())
                        .block(PATIENCE));
    }

    @Test
    void aClientOfTheApplicationStaysOpen() throws Exception {
        try (Client mine = Client.builder().endpoints(server.endpoint()).build()) {
            runner.withBean(Client.class, () -> mine, definition -> definition.setDestroyMethodName(""))
                    .run(context -> acquired(context.getBean(LockClient.class), "borrowed")
                            .release()
                            .block(PATIENCE));
            assertThat(mine.getKVClient().get(bytes("any")).get(30, TimeUnit.SECONDS))
                    .isNotNull();
        }
    }

    @Test
    void aUserWithRightsOnThePrefixIsEnough() throws Exception {
        try (EtcdServer guarded = EtcdServer.start();
                Client operator = Client.builder().endpoints(guarded.endpoint()).build()) {
            Auth auth = operator.getAuthClient();
            for (String it : List.of("root", "locks")) {
                auth.userAdd(bytes(it), bytes("secret-" + it)).get(30, TimeUnit.SECONDS);
                auth.roleAdd(bytes(it)).get(30, TimeUnit.SECONDS);
                auth.userGrantRole(bytes(it), bytes(it)).get(30, TimeUnit.SECONDS);
            }
            auth.roleGrantPermission(bytes("locks"), bytes("holdfast/"), bytes("holdfast0"), Permission.Type.READWRITE)
                    .get(30, TimeUnit.SECONDS);
            auth.authEnable().get(30, TimeUnit.SECONDS);
            var guardedRunner = runner.withPropertyValues(
                    "holdfast.etcd.endpoints=" + guarded.endpoint(), "holdfast.etcd.username=locks");

            guardedRunner
                    .withPropertyValues("holdfast.etcd.password=secret-locks")
                    .run(context -> acquired(context.getBean(LockClient.class), "guarded")
                            .release()
                            .block(PATIENCE));
            guardedRunner
                    .withPropertyValues("holdfast.etcd.password=secret-guess")
                    .run(context -> assertThatThrownBy(() -> acquired(context.getBean(LockClient.class), "guarded"))
                            .isInstanceOf(LockBackendException.class)
                            .hasMessageNotContaining("secret"));
        }
    }

    /** With a stand-in that speaks TLS, in front of the server, and asks for the certificate of the client. */
    @Test
    void aBundleTurnsOnTlsWithItsCertificates() throws IOException {
        var withBundle = runner.withPropertyValues(Certificate.in(folder).bundle("locks"));
        withBundle.withPropertyValues("holdfast.backend=memory").run(first -> {
            SSLContext tls = first.getBean(SslBundles.class).getBundle("locks").createSslContext();
            try (TlsFront front =
                    TlsFront.of(tls, 0, "127.0.0.1", server.port(), EtcdBackendIT::asksForTheCertificateOfTheClient)) {
                withBundle
                        .withPropertyValues(
                                "holdfast.etcd.endpoints=http://127.0.0.1:" + front.port(),
                                "holdfast.etcd.ssl.bundle=locks")
                        .run(context -> acquired(context.getBean(LockClient.class), "secured")
                                .release()
                                .block(PATIENCE));
            }
        });
    }

    private static void asksForTheCertificateOfTheClient(SSLServerSocket front) {
        SSLParameters demands = front.getSSLParameters();
        demands.setApplicationProtocols(new String[] {"h2"});
        demands.setNeedClientAuth(true);
        front.setSSLParameters(demands);
    }

    @Configuration(proxyBeanMethods = false)
    static class WithEtcd {

        @Bean
        @ServiceConnection("coreos/etcd")
        ServiceConnectionIT.Stand etcd() {
            return new ServiceConnectionIT.Stand("quay.io/coreos/etcd:v3.4.37", Map.of(2379, server.port()));
        }
    }

    @Test
    void locksAreInTheContainer() {
        runner.withPropertyValues("holdfast.etcd.endpoints=http://127.0.0.1:1")
                .withUserConfiguration(WithEtcd.class)
                .run(context -> acquired(context.getBean(LockClient.class), "contained")
                        .release()
                        .block(PATIENCE));
    }
}

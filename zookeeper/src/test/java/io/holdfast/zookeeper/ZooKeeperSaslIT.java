package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import java.util.List;
import java.util.Map;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.auth.login.Configuration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.server.auth.ProviderRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** A server that accepts authenticated clients only, by SASL with names and passwords, as the page on operation sets it up. */
class ZooKeeperSaslIT {

    private static final String MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule";

    /** The options of the server. */
    private static final Map<String, String> OPTIONS = Map.of(
            "zookeeper.authProvider.1",
            "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
            "zookeeper.sessionRequireClientSASLAuth",
            "true",
            "zookeeper.sasl.serverconfig",
            "SaslServer");

    /** What JAAS files contain: the users of the server, and a section for each client. */
    private static final Map<String, Map<String, String>> SECTIONS = Map.of(
            "SaslServer", Map.of("user_locks", "secret", "user_others", "hidden"),
            "Locks", Map.of("username", "locks", "password", "secret"),
            "Others", Map.of("username", "others", "password", "hidden"),
            "Wrong", Map.of("username", "locks", "password", "guessed"));

    private static TestingServer server;

    private static final class Sections extends Configuration {

        @Override
        public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
            Map<String, String> options = SECTIONS.get(name);
            return options == null
                    ? null
                    : new AppConfigurationEntry[] {
                        new AppConfigurationEntry(MODULE, LoginModuleControlFlag.REQUIRED, options)
                    };
        }
    }

    private static final class CreatorsOnly implements ACLProvider {

        @Override
        public List<ACL> getDefaultAcl() {
            return Ids.CREATOR_ALL_ACL;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return Ids.CREATOR_ALL_ACL;
        }
    }

    @BeforeAll
    static void start() throws Exception {
        OPTIONS.forEach(System::setProperty);
        Configuration.setConfiguration(new Sections());
        ProviderRegistry.reset();
        server = new TestingServer(true);
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
        OPTIONS.keySet().forEach(System::clearProperty);
        Configuration.setConfiguration(null);
        ProviderRegistry.reset();
    }

    private static CuratorFramework client(String section) {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, section);
        config.setProperty("zookeeper.fips-mode", "false");
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(server.getConnectString())
                .sessionTimeoutMs(10_000)
                .retryPolicy(new RetryOneTime(100))
                .zkClientConfig(config)
                .aclProvider(new CreatorsOnly())
                .build();
        client.start();
        return client;
    }

    private static long use(CuratorFramework client) {
        LockClient locks = LockClient.create(ZooKeeperLockBackend.over(client));
        try {
            return Waiting.forMono(locks.lock("stock/42").withLock(lease -> Mono.just(lease.fencingToken())));
        } finally {
            Waiting.forMono(locks.close());
        }
    }

    @Test
    void locksOfAUserAreClosedToOtherUsers() throws Exception {
        try (CuratorFramework own = client("Locks");
                CuratorFramework others = client("Others")) {
            assertThat(use(own)).isPositive();
            assertThat(own.getACL().forPath("/holdfast/mutex/stock%2F42"))
                    .singleElement()
                    .extracting(acl -> acl.getId().toString().trim())
                    .isEqualTo("'sasl,'locks");
            assertThatThrownBy(() -> use(others))
                    .isInstanceOf(LockBackendException.class)
                    .hasMessageContaining("the access rights forbid it");
        }
    }

    /** A fast server refuses the password before the first request: then no session comes. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void wrongPasswordIsAPermanentErrorThatSaysSo(boolean wasRefusedBefore) {
        try (CuratorFramework client = client("Wrong")) {
            if (wasRefusedBefore) {
                Waiting.until("the password is refused", () -> state(client) == ZooKeeper.States.AUTH_FAILED);
            }
            assertThatThrownBy(() -> use(client))
                    .isInstanceOfSatisfying(
                            LockBackendException.class,
                            error -> assertThat(error.isTransient()).isFalse())
                    .hasMessageContaining("the client could not authenticate itself: check its credentials");
        }
    }

    private static ZooKeeper.States state(CuratorFramework client) {
        try {
            return client.getZookeeperClient().getZooKeeper().getState();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}

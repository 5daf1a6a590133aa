package io.holdfast.spring;

import io.holdfast.spring.HoldfastProperties.Zookeeper;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/** Makes a Curator client from properties, and the back end that uses it. */
final class ZooKeeperClients {

    private static final Duration LONGEST_CONNECT = Duration.ofSeconds(15);

    /** ZooKeeper counts milliseconds in an int. */
    private static final Duration LONGEST_SESSION = Duration.ofMillis(Integer.MAX_VALUE);

    private static final String DIGEST = "digest";

    private ZooKeeperClients() {}

    /** Makes a client that is not started yet. */
    static CuratorFramework own(Zookeeper properties, String connectString) {
        Duration session = session(properties);
        Duration connect = session.compareTo(LONGEST_CONNECT) < 0 ? session : LONGEST_CONNECT;
        CuratorFrameworkFactory.Builder client = CuratorFrameworkFactory.builder()
                .connectString(connectString)
                .sessionTimeoutMs(Math.toIntExact(session.toMillis()))
                .connectionTimeoutMs(Math.toIntExact(connect.toMillis()))
                // For Curator's own connection only: the lock client repeats the requests for locks.
                .retryPolicy(new ExponentialBackoffRetry(50, 3));
        requireThatItFits(properties, true);
        if (properties.auth() != null) {
            client.authorization(scheme(properties), properties.auth().getBytes(StandardCharsets.UTF_8));
        }
        return client.build();
    }

    private static Duration session(Zookeeper properties) {
        Duration session = properties.sessionTimeout();
        if (session.compareTo(Duration.ofMillis(1)) < 0 || session.compareTo(LONGEST_SESSION) > 0) {
            throw new InvalidLockPropertiesException(
                    "holdfast.zookeeper.session-timeout is %s, and ZooKeeper accepts 1 ms to %d ms, which is almost 25 days."
                            .formatted(session, LONGEST_SESSION.toMillis()),
                    "Set it to seconds, such as 30s: that is how long the lock of a crashed process stays taken.");
        }
        return session;
    }

    /**
     * Returns a builder of the back end.
     *
     * @param client the client of the starter or of the application
     * @param isOwn whether it is the client of the starter
     */
    static ZooKeeperLockBackend.Builder backEnd(
            Zookeeper properties,
            CuratorFramework client,
            boolean isOwn,
            List<ZooKeeperLockBackendCustomizer> customizers) {
        requireThatItFits(properties, isOwn);
        ZooKeeperLockBackend.Builder builder =
                ZooKeeperLockBackend.builder(client).root(properties.root());
        Zookeeper.Acl acl = acl(properties);
        if (acl != null) {
            builder = builder.acl(new Everywhere(rights(acl)));
        }
        for (ZooKeeperLockBackendCustomizer customizer : customizers) {
            builder = customizer.customize(builder);
        }
        return builder;
    }

    /**
     * With credentials, only clients with the same credentials may use the nodes, unless the properties say otherwise. Null to use the
     * rights of the client.
     */
    private static Zookeeper.@Nullable Acl acl(Zookeeper properties) {
        return properties.acl() == null && properties.auth() != null ? Zookeeper.Acl.CREATOR : properties.acl();
    }

    private static List<ACL> rights(Zookeeper.Acl acl) {
        return switch (acl) {
            case CREATOR -> ZooDefs.Ids.CREATOR_ALL_ACL;
            case OPEN -> ZooDefs.Ids.OPEN_ACL_UNSAFE;
        };
    }

    private static String scheme(Zookeeper properties) {
        return properties.authScheme() == null ? DIGEST : properties.authScheme();
    }

    /** The messages never repeat the credentials. */
    private static void requireThatItFits(Zookeeper properties, boolean isOwn) {
        String auth = properties.auth();
        if (auth == null && properties.authScheme() != null) {
            throw new InvalidLockPropertiesException(
                    "holdfast.zookeeper.auth-scheme is set, but holdfast.zookeeper.auth is not.",
                    "Set both, such as digest and user:password, or neither.");
        }
        if (auth != null && !isOwn) {
            throw new InvalidLockPropertiesException(
                    "holdfast.zookeeper.auth is set, but the client is the application's own CuratorFramework.",
                    "Give that client its authorization where it is built, or set holdfast.zookeeper.connect-string.");
        }
        if (auth != null && scheme(properties).equals(DIGEST) && auth.indexOf(':') < 1) {
            throw new InvalidLockPropertiesException(
                    "holdfast.zookeeper.auth has a value that is not valid for the scheme digest.",
                    "Write it as user:password.");
        }
        if (auth == null && isOwn && properties.acl() == Zookeeper.Acl.CREATOR) {
            throw new InvalidLockPropertiesException(
                    "holdfast.zookeeper.acl is creator, but holdfast.zookeeper.auth is not set: the servers would refuse each node.",
                    "Set it, such as user:password, or leave holdfast.zookeeper.acl out.");
        }
    }

    private record Everywhere(List<ACL> rights) implements ACLProvider {

        @Override
        public List<ACL> getDefaultAcl() {
            return rights;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return rights;
        }
    }
}

package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.KeeperException.NoAuthException;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Credentials from properties, on a real server. */
class ZooKeeperCredentialsIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Test
    void nodesAreForApplicationsWithTheSameCredentialsOnly() throws Exception {
        try (TestingServer server = new TestingServer();
                CuratorFramework stranger =
                        CuratorFrameworkFactory.newClient(server.getConnectString(), new RetryOneTime(100))) {
            stranger.start();
            new ApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                    .withPropertyValues(
                            "holdfast.backend=zookeeper",
                            "holdfast.zookeeper.connect-string=" + server.getConnectString(),
                            "holdfast.zookeeper.auth=me:secret")
                    .run(context -> {
                        LockLease lease = context.getBean(LockClient.class)
                                .lock("guarded")
                                .acquire()
                                .block(PATIENCE);
                        assertThat(lease.isValid()).isTrue();
                        assertThatThrownBy(() -> stranger.getChildren().forPath("/holdfast/mutex/guarded"))
                                .isInstanceOf(NoAuthException.class);
                        assertThatThrownBy(() -> stranger.create().forPath("/holdfast/mutex/guarded/mine"))
                                .isInstanceOf(NoAuthException.class);
                        lease.release().block(PATIENCE);
                    });
        }
    }
}

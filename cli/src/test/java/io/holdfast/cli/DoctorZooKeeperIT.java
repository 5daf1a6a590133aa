package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.ResourceLockTarget;

/** Each check of the doctor, on a ZooKeeper that is fit and on one that is made to fail it. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = DoctorZooKeeperIT.BUFFER, mode = ResourceAccessMode.READ, target = ResourceLockTarget.CHILDREN)
class DoctorZooKeeperIT {

    /** The system property that clients and servers of one JVM read. */
    static final String BUFFER = "jute.maxbuffer";

    @Test
    void fitServerWorksAndKeepsNothing() throws Exception {
        try (TestingServer server = new TestingServer();
                CuratorFramework client =
                        CuratorFrameworkFactory.newClient(server.getConnectString(), new RetryOneTime(100))) {
            Examined fit = Examined.at("zookeeper://" + server.getConnectString() + "/shop/locks", Map.of());

            assertThat(fit.code()).as(fit.out()).isZero();
            assertThat(fit.line("container nodes under the root"))
                    .startsWith("works")
                    .contains("the root did not exist, and can be made");
            assertThat(fit.line("servers")).isEqualTo("does not work servers: a single server");
            assertThat(fit.line("rights of other clients")).startsWith("does not work");
            client.start();
            assertThat(client.checkExists().forPath("/shop/locks")).isNull();
        }
    }

    @Test
    void rootWithoutRightsIsNamedAndItsOwnerMayUseIt() throws Exception {
        try (TestingServer server = new TestingServer();
                CuratorFramework owner = CuratorFrameworkFactory.builder()
                        .connectString(server.getConnectString())
                        .retryPolicy(new RetryOneTime(100))
                        .authorization("digest", "locks:geheim".getBytes(StandardCharsets.UTF_8))
                        .build()) {
            owner.start();
            String unused = owner.create()
                    .withACL(List.of(new ACL(ZooDefs.Perms.ALL, new Id("auth", ""))))
                    .forPath("/locks");
            String address = "zookeeper://" + server.getConnectString() + "/locks";

            Examined stranger = Examined.at(address, Map.of("HOLDFAST_USER", "locks", "HOLDFAST_PASSWORD", "falsch"));
            assertThat(stranger.line("container nodes under the root"))
                    .startsWith("does not work")
                    .contains("NoAuth");
            assertThat(stranger.out()).doesNotContain("falsch");
            assertThat(stranger.code()).isOne();

            Examined right = Examined.at(address, Map.of("HOLDFAST_USER", "locks", "HOLDFAST_PASSWORD", "geheim"));
            assertThat(right.code()).as(right.out()).isZero();
        }
    }

    @Test
    void serversOfAnEnsembleAreCounted() throws Exception {
        try (TestingCluster ensemble = new TestingCluster(3)) {
            ensemble.start();
            Examined three = Examined.at("zookeeper://" + ensemble.getConnectString(), Map.of());

            assertThat(three.line("servers")).isEqualTo("works         servers: 3 that vote, 0 observers");
            assertThat(three.code()).as(three.out()).isZero();
        }
    }

    @Test
    @ResourceLock(BUFFER)
    void shortBufferIsFound() throws Exception {
        System.setProperty(BUFFER, "100000");
        try (TestingServer server = new TestingServer()) {
            assertThat(Examined.at("zookeeper://" + server.getConnectString(), Map.of())
                            .line(BUFFER))
                    .startsWith("does not work");
        } finally {
            System.clearProperty(BUFFER);
        }
    }

    @Test
    void addressWithoutServerEndsInTime() {
        Examined nowhere = Examined.briefly("zookeeper://127.0.0.1:1");

        assertThat(nowhere.line("connection")).startsWith("does not work").contains("127.0.0.1:1");
        assertThat(nowhere.code()).isOne();
        assertThat(nowhere.took()).isLessThan(Duration.ofSeconds(8));
    }
}

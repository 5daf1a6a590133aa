package io.holdfast.zookeeper.internal.client;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The logger of all log lines of the back end. It has the name of the public class. */
public final class BackendLog {

    public static final Logger LOG = LoggerFactory.getLogger("io.holdfast.zookeeper.ZooKeeperLockBackend");

    private BackendLog() {}
}

package io.holdfast.zookeeper.internal.client;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The logger of all log lines of the back end: its name is the class that users know. */
public final class BackendLog {

    public static final Logger LOG = LoggerFactory.getLogger("io.holdfast.zookeeper.ZooKeeperLockBackend");

    private BackendLog() {}
}

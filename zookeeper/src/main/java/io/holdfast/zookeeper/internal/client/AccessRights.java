package io.holdfast.zookeeper.internal.client;

import static io.holdfast.zookeeper.internal.client.BackendLog.LOG;

import io.holdfast.spi.support.Fallible;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/** Decides the access rights of new nodes: those that the user sets, else those that the Curator client would give them. Thread-safe. */
public final class AccessRights {

    /** With one of these rights, a stranger can take a lock, end a hold, or read the names of a queue and enter it. */
    private static final int CHANGES = Perms.CREATE | Perms.WRITE | Perms.DELETE | Perms.ADMIN;

    private final @Nullable ACLProvider explicit;
    private final AtomicBoolean hasWarned = new AtomicBoolean();

    /** The provider of the client that was found last; written before its session is used. */
    private volatile @Nullable ACLProvider inherited;

    /**
     * Creates the rights. A provider of the user comes first.
     *
     * @param explicit null to use the provider of the Curator client
     */
    public AccessRights(@Nullable ACLProvider explicit) {
        this.explicit = explicit;
    }

    /** Returns the same clients, and remembers the provider of each client that it returns. */
    public Supplier<? extends @Nullable CuratorFramework> inheritedFrom(
            Supplier<? extends @Nullable CuratorFramework> clients) {
        return () -> {
            CuratorFramework client = clients.get();
            if (client != null && explicit == null) {
                inherited = providerOf(client);
            }
            return client;
        };
    }

    /** Returns the rights of a new node, in the same way as Curator (ACLing, 5.9). */
    List<ACL> of(String path) {
        ACLProvider provider = explicit != null ? explicit : inherited;
        List<ACL> rights = provider == null ? Ids.OPEN_ACL_UNSAFE : of(provider, path);
        if (!hasWarned.get() && isOpen(rights) && hasWarned.compareAndSet(false, true)) {
            Fallible.tell(
                    () -> LOG.warn(
                            "Each client that can connect to ZooKeeper can change the nodes of locks: give the Curator client credentials and an ACLProvider, or set acl() of the builder"));
        }
        return rights;
    }

    private static List<ACL> of(ACLProvider provider, String path) {
        try {
            List<ACL> own = provider.getAclForPath(path);
            return own != null ? own : provider.getDefaultAcl();
        } catch (Error failed) {
            throw new IllegalStateException("the ACLProvider failed for %s: %s".formatted(path, failed), failed);
        }
    }

    private static boolean isOpen(List<ACL> rights) {
        return rights.stream()
                .anyMatch(it -> Ids.ANYONE_ID_UNSAFE.equals(it.getId()) && (it.getPerms() & CHANGES) != 0);
    }

    /** Curator has no public getter. This method exists in each version since 2.0, and Curator's own builders call it. */
    private static @Nullable ACLProvider providerOf(CuratorFramework client) {
        for (Class<?> type = client.getClass(); type != null; type = type.getSuperclass()) {
            try {
                Method getter = type.getDeclaredMethod("getAclProvider");
                getter.setAccessible(true);
                return getter.invoke(client) instanceof ACLProvider provider ? provider : null;
            } catch (NoSuchMethodException notInThisClass) {
                // It may be in the next one.
            } catch (ReflectiveOperationException | RuntimeException closedToUs) {
                LOG.debug("the ACLProvider of {} cannot be read", client, closedToUs);
                return null;
            }
        }
        return null;
    }
}

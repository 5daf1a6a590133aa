package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.common.exception.EtcdException;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Hears of holds of this client that an operator breaks. It is one stream, however many claims there are. */
final class Notices {

    private final Watch client;
    private final Layout layout;
    private final Consumer<String> onBroken;

    /** The open stream. Written under the monitor of this object. */
    private volatile @Nullable Stream stream;

    /** Guarded by this object. */
    private boolean isClosed;

    /** A stream of the driver, which says only to its listener that it has ended. */
    private static final class Stream {
        private Watch.@Nullable Watcher watcher;
        private volatile boolean hasEnded;
    }

    Notices(Watch client, Layout layout, Consumer<String> onBroken) {
        this.client = client;
        this.layout = layout;
        this.onBroken = onBroken;
    }

    boolean isListening() {
        Stream known = stream;
        return known != null && !known.hasEnded;
    }

    /** Opens the stream if it is not open: at first, and after an interruption. */
    synchronized void listen() {
        if (isClosed || isListening()) {
            return;
        }
        shut();
        Stream opened = new Stream();
        stream = opened;
        try {
            opened.watcher = client.watch(
                    layout.notices(),
                    WatchOption.builder().isPrefix(true).withNoDelete(true).build(),
                    Watch.listener(
                            response -> response.getEvents().forEach(this::notice),
                            error -> opened.hasEnded = true,
                            () -> opened.hasEnded = true));
        } catch (EtcdException clientIsClosed) {
            opened.hasEnded = true; // the next request says so
        }
    }

    private void notice(WatchEvent event) {
        ByteSequence key = event.getKeyValue().getKey();
        onBroken.accept(layout.idOfNotice(key));
    }

    /** Ends it; nothing opens a stream afterwards. */
    synchronized void close() {
        isClosed = true;
        shut();
    }

    private void shut() {
        Stream open = stream;
        stream = null;
        if (open != null && open.watcher != null) {
            open.watcher.close();
        }
    }
}

package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Hears of holds of this client that an operator breaks. It is one stream, however many claims there are. */
final class Notices {

    private final Watch client;
    private final Layout layout;
    private final String node;
    private final Consumer<String> onBroken;
    private final AtomicReference<Watch.@Nullable Watcher> watcher = new AtomicReference<>();

    Notices(Watch client, Layout layout, String node, Consumer<String> onBroken) {
        this.client = client;
        this.layout = layout;
        this.node = node;
        this.onBroken = onBroken;
    }

    /** Opens the stream if it is not open: at first, and after an interruption. */
    void listen() {
        if (watcher.get() == null) {
            Watch.Watcher opened = client.watch(
                    layout.notices(node),
                    WatchOption.builder().isPrefix(true).withNoDelete(true).build(),
                    Watch.listener(
                            response -> response.getEvents().forEach(this::notice),
                            error -> close(),
                            () -> watcher.set(null)));
            if (!watcher.compareAndSet(null, opened)) {
                opened.close();
            }
        }
    }

    private void notice(WatchEvent event) {
        ByteSequence key = event.getKeyValue().getKey();
        onBroken.accept(layout.idOfNotice(key, node));
    }

    void close() {
        Watch.Watcher open = watcher.getAndSet(null);
        if (open != null) {
            open.close();
        }
    }
}

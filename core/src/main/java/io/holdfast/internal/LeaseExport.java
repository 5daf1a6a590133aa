package io.holdfast.internal;

import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.MonoSink;

/** One subscription to {@code export}: told the text, or why there is none; or it leaves before that, and the lock is released. */
final class LeaseExport implements LeaseSuccession {

    private final MonoSink<String> sink;
    private final AtomicBoolean isOver = new AtomicBoolean();

    private LeaseExport(MonoSink<String> sink) {
        this.sink = sink;
    }

    static void start(HeldLease lease, MonoSink<String> sink) {
        LeaseExport wanted = new LeaseExport(sink);
        sink.onCancel(() -> {
            if (wanted.isOver.compareAndSet(false, true)) {
                lease.exportCancelled();
            }
        });
        if (!lease.export(wanted)) {
            wanted.failed(lease.lost());
        }
    }

    void succeeded(String text) {
        if (isOver.compareAndSet(false, true)) {
            sink.success(text);
        }
    }

    @Override
    public void failed(Throwable why) {
        if (isOver.compareAndSet(false, true)) {
            sink.error(why);
        }
    }
}

package io.holdfast.proof.soak;

import io.holdfast.ClientReport;
import io.holdfast.LockClient;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The figures that only the client process itself can read. It requests a full garbage collection first. The heap is the use of each pool at the
 * end of that collection, so it contains no later allocation.
 */
final class Inside {

    private final Tally tally;
    private final List<LockClient> clients;

    Inside(Tally tally, List<LockClient> clients) {
        this.tally = tally;
        this.clients = clients;
    }

    /** Returns the figures as a line for {@link #parse}. */
    String inspect() {
        System.gc();
        Map<Column, Double> figures = new EnumMap<>(Column.class);
        figures.put(Column.HEAP, heapAfterCollection());
        figures.put(Column.NON_HEAP, (double)
                ManagementFactory.getMemoryMXBean().getNonHeapMemoryUsage().getUsed());
        figures.put(Column.DIRECT, direct());
        figures.put(Column.NETTY, netty());
        figures.put(Column.THREADS, (double) ManagementFactory.getThreadMXBean().getThreadCount());
        figures.put(Column.CLASSES, (double)
                ManagementFactory.getClassLoadingMXBean().getLoadedClassCount());
        List<ClientReport> reports = clients.stream().map(LockClient::report).toList();
        figures.put(Column.HOLDS, (double)
                reports.stream().mapToLong(ClientReport::holdCount).sum());
        figures.put(Column.WAITS, (double)
                reports.stream().mapToLong(ClientReport::waitCount).sum());
        figures.put(Column.CYCLES, (double) tally.takeCycles());
        figures.put(Column.ERRORS, (double) tally.takeErrors());
        figures.put(Column.LOST, (double) tally.takeLost());
        Tally.Times times = tally.takeTimes();
        figures.put(Column.MEDIAN, times.median());
        figures.put(Column.HIGH, times.high());
        return figures.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(" "));
    }

    static Map<Column, Double> parse(String line) {
        Map<Column, Double> figures = new EnumMap<>(Column.class);
        for (String figure : line.split(" ", -1)) {
            int equals = figure.indexOf('=');
            figures.put(Column.valueOf(figure.substring(0, equals)), Double.valueOf(figure.substring(equals + 1)));
        }
        return figures;
    }

    private static double heapAfterCollection() {
        List<Long> used = new ArrayList<>();
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            MemoryUsage after = pool.getCollectionUsage();
            if (pool.getType() == MemoryType.HEAP && after != null) {
                used.add(after.getUsed());
            }
        }
        return used.stream().mapToLong(Long::longValue).sum();
    }

    private static double netty() {
        return ByteBufAllocator.DEFAULT instanceof ByteBufAllocatorMetricProvider allocator
                ? allocator.metric().usedDirectMemory()
                : 0;
    }

    private static double direct() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }
}

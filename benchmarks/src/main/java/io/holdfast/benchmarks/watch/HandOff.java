package io.holdfast.benchmarks.watch;

import io.holdfast.benchmarks.load.Count;
import io.holdfast.benchmarks.load.Lanes;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.Peer;
import io.holdfast.benchmarks.peer.RedisPeer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import reactor.core.publisher.Mono;

/**
 * Measures the time from the start of a release until the next holder has the lock, which is another client in this process. Also measures a raw round
 * trip in the same process before and after.
 */
final class HandOff {

    private static final String LOCK = "hand-off";
    private static final int PINGS = 300;
    private static final int WARM_UP_PINGS = 20_000;

    /** The hold time: long enough for the attempt of the next client. */
    private static final Duration HOLD = Duration.ofMillis(2);

    /** The longest time that the histogram records: a minute. */
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Histogram histogram = newHistogram();

    /** Written by the holder; the lock makes it visible to the next holder. */
    private volatile long releasedNanos;

    /** Written by the watching thread. */
    private volatile boolean isMeasuring;

    private HandOff() {}

    static Observation watch(Addresses addresses, RedisPeer choice, int waiters, int warmUpSeconds, int seconds) {
        HandOff handOff = new HandOff();
        Histogram roundTrips = newHistogram();
        pings(addresses, WARM_UP_PINGS, Duration.ZERO, newHistogram());
        pings(addresses, PINGS, HOLD, roundTrips);
        try (Peer one = choice.open(addresses);
                Peer other = choice.open(addresses);
                Lanes ofOne = handOff.lanes(one, waiters - waiters / 2);
                Lanes ofOther = handOff.lanes(other, waiters / 2)) {
            Pause.seconds(warmUpSeconds);
            handOff.isMeasuring = true;
            Pause.seconds(seconds);
            handOff.isMeasuring = false;
            requireNoFailure(ofOne, ofOther);
        }
        pings(addresses, PINGS, HOLD, roundTrips);
        Map<String, Double> values = new TreeMap<>();
        percentiles("", handOff.histogram, values);
        percentiles("round trip ", roundTrips, values);
        values.put("hand-offs", (double) handOff.histogram.getTotalCount());
        return new Observation("HandOff", Map.of("peer", choice.name(), "waiters", Integer.toString(waiters)), values);
    }

    private Lanes lanes(Peer peer, int lanes) {
        return Lanes.start(peer, Lanes.oneName(LOCK, lanes), Count.here(), Mono.defer(this::held));
    }

    /** The holder subscribes to this work, so there is one subscriber at a time. */
    private Mono<Void> held() {
        long now = System.nanoTime();
        if (!isMeasuring) {
            return Mono.empty(); // so that there are many, and the code is compiled by then
        }
        if (releasedNanos != 0) {
            histogram.recordValue(Math.min(now - releasedNanos, LONGEST_NANOS));
        }
        return Mono.delay(HOLD)
                .doOnNext(tick -> releasedNanos = System.nanoTime())
                .then();
    }

    private static void pings(Addresses addresses, int count, Duration pause, Histogram histogram) {
        RedisClient client = RedisClient.create();
        try (StatefulRedisConnection<String, String> connection = client.connect(RedisURI.create(addresses.redis()))) {
            for (int i = 0; i < count; i++) {
                // As idle as a connection while a lock is held: sleeping threads take longer to answer.
                LockSupport.parkNanos(pause.toNanos());
                long begin = System.nanoTime();
                String unused = connection.sync().ping();
                histogram.recordValue(Math.min(System.nanoTime() - begin, LONGEST_NANOS));
            }
        } finally {
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    private static void percentiles(String what, Histogram histogram, Map<String, Double> values) {
        for (double percentile : new double[] {50, 90, 99}) {
            double micros = histogram.getValueAtPercentile(percentile) / 1_000.0;
            values.put("%sp%.0f µs".formatted(what, percentile), micros);
        }
        values.put(what + "max µs", histogram.getMaxValue() / 1_000.0);
    }

    private static void requireNoFailure(Lanes... all) {
        for (Lanes lanes : all) {
            Throwable failure = lanes.failure();
            if (failure != null) {
                throw new IllegalStateException("a lane has failed", failure);
            }
        }
    }

    private static Histogram newHistogram() {
        return new Histogram(LONGEST_NANOS, 3);
    }
}

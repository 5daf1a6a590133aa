package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A user of the same Redis with rights to the channels only. It reads all messages, and repeats them on all channels that it has seen, at once and
 * minutes later. It forges grants and hints for waiters that it has seen. It publishes nonsense, at a limited rate.
 */
final class Tenant {

    private static final Duration BETWEEN_BURSTS = Duration.ofMillis(50);

    /** The longest wait for a message: clients publish at each hand-off. */
    private static final Duration HEARS_WITHIN = Duration.ofSeconds(15);

    /** Messages in a burst: some hundred a second, so that the clients can still work. */
    private static final int BURST = 40;

    private static final int REMEMBERED = 400;
    private static final int OWN_REMEMBERED = 5_000;

    /** Some of these wait at the moment. */
    private static final int HEADS_REMEMBERED = 12;

    /** The claims of a grant. */
    private static final Pattern GRANTED = Pattern.compile("G \\S+ \\d+ \\d+ \\d+ \\d+ (.+) \\S+", Pattern.DOTALL);

    private static final int WORDS_OF_A_GRANT = 8;

    /** A published message and its channel. */
    private record Message(String channel, String text) {}

    private final Supplier<List<RedisServer>> servers;

    /** Messages of this strike and of earlier ones. Written by threads of the driver. */
    private final ConcurrentLinkedDeque<Message> seen = new ConcurrentLinkedDeque<>();

    /** Claims that were granted a lock lately. Written by threads of the driver. */
    private final ConcurrentLinkedDeque<String> heads = new ConcurrentLinkedDeque<>();

    /** Its own recent messages: it receives them, too, and would soon remember nothing else. */
    private final Map<String, Boolean> own = Collections.synchronizedMap(new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > OWN_REMEMBERED;
        }
    });

    private final AtomicLong published = new AtomicLong();

    Tenant(Supplier<List<RedisServer>> servers) {
        this.servers = servers;
    }

    /** The name of the count in the report. */
    Map<String, Long> counts() {
        return Map.of("messages that a tenant has published", published.get());
    }

    /** Runs until the strike ends; longer if no message arrived until then, since there was nothing to repeat. */
    void publish(Strike strike) throws InterruptedException {
        long startNanos = System.nanoTime();
        long before = published.get();
        BooleanSupplier goesOn = () -> {
            long sinceNanos = System.nanoTime() - startNanos;
            return sinceNanos < strike.time().toNanos()
                    || (published.get() == before && sinceNanos < HEARS_WITHIN.toNanos());
        };
        Random random = new Random(strike.choice());
        RedisServer server = strike.oneOf(servers.get());
        while (goesOn.getAsBoolean()) {
            publish(server, random, goesOn);
            Strike.last(BETWEEN_BURSTS);
        }
    }

    /** Publishes on its own connections, until one of them ends. */
    private void publish(RedisServer server, Random random, BooleanSupplier goesOn) throws InterruptedException {
        RedisClient driver = RedisClient.create(RedisURI.builder()
                .withHost(server.host())
                .withPort(server.port())
                .withAuthentication(RedisUsers.TENANT, "any")
                .build());
        driver.setOptions(ClientOptions.builder()
                .autoReconnect(false)
                .pingBeforeActivateConnection(false)
                .build());
        try (StatefulRedisPubSubConnection<String, String> listening = driver.connectPubSub();
                StatefulRedisPubSubConnection<String, String> speaking = driver.connectPubSub()) {
            listening.addListener(new RedisPubSubAdapter<>() {
                @Override
                public void message(String pattern, String channel, String text) {
                    remember(new Message(channel, text));
                }
            });
            listening.sync().psubscribe("*");
            while (goesOn.getAsBoolean() && listening.isOpen() && speaking.isOpen()) {
                burst(random)
                        .forEach(message -> speaking.async()
                                .publish(message.channel(), message.text())
                                .thenRun(published::incrementAndGet));
                Strike.last(BETWEEN_BURSTS);
            }
        } catch (RedisException away) {
            // Another fault ended it.
        } finally {
            driver.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        }
    }

    private void remember(Message message) {
        if (own.containsKey(message.text())) {
            return;
        }
        seen.addLast(message);
        if (seen.size() > REMEMBERED) {
            Message unused = seen.pollFirst();
        }
        Matcher head = GRANTED.matcher(message.text());
        if (head.matches()) {
            heads.addAll(List.of(head.group(1).split("\n", -1)));
            while (heads.size() > HEADS_REMEMBERED) {
                String unused = heads.pollFirst();
            }
        }
    }

    private List<Message> burst(Random random) {
        List<Message> known = List.copyOf(seen);
        List<String> waiting = List.copyOf(heads);
        List<Message> burst = new ArrayList<>();
        for (int i = 0; i < BURST && !known.isEmpty(); i++) {
            Message one = known.get(random.nextInt(known.size()));
            Message other = known.get(random.nextInt(known.size()));
            burst.add(
                    switch (random.nextInt(5)) {
                        case 0 -> one;
                        case 1 -> new Message(other.channel(), one.text());
                        case 2 -> new Message(one.channel(), forged(one.text(), waiting, random));
                        case 3 -> new Message(one.channel(), hint(waiting, random));
                        default -> new Message(one.channel(), nonsense(one.text(), random));
                    });
        }
        return burst;
    }

    /** Forges a grant for a waiter, with another token, another attempt or a much longer lease, and with the signature of the true grant. */
    private static String forged(String text, List<String> waiting, Random random) {
        String[] words = text.split(" ", WORDS_OF_A_GRANT);
        if (words.length < WORDS_OF_A_GRANT || !words[0].equals("G") || !words[2].matches("\\d{1,18}")) {
            return hint(waiting, random);
        }
        if (!waiting.isEmpty() && random.nextInt(4) > 0) {
            words[6] = waiting.get(random.nextInt(waiting.size()));
            words[5] = Integer.toString(words[6].length());
            words[3] = Integer.toString(1 + random.nextInt(3));
        }
        switch (random.nextInt(6)) {
            case 0 -> words[2] = Long.toString(9_000_000_000_000_000L + random.nextInt(1_000));
            case 1 -> words[3] = Integer.toString(1 + random.nextInt(9));
            case 2 -> words[4] = "9223372036854775807";
            case 3 -> words[1] = "0".repeat(40);
            default -> words[2] = Long.toString(Long.parseLong(words[2]) + random.nextInt(1_000_000));
        }
        return String.join(" ", words);
    }

    /** Forges a hint: that the claim must send an attempt, is lost, or must wait for long. */
    private static String hint(List<String> waiting, Random random) {
        String id = waiting.isEmpty() ? "" : waiting.get(random.nextInt(waiting.size()));
        return List.of("C " + id, "L x 1 1 " + id + " k", "L " + id, "B").get(random.nextInt(4));
    }

    private static String nonsense(String text, Random random) {
        return switch (random.nextInt(5)) {
            case 0 -> "";
            case 1 -> text.substring(0, random.nextInt(text.length() + 1));
            case 2 -> text + " " + text;
            case 3 -> "G ".repeat(1 + random.nextInt(20_000));
            default ->
                random.ints(40, 0, 0xd7ff)
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                        .toString();
        };
    }
}

package io.holdfast.r2dbc.internal.mariadb;

import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.LockText;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Writes operations as one text, for procedures that accept no arrays, and reads their answers. It sends operations in the order of their
 * locks, which is the same for all clients. So no two calls wait for each other.
 */
public final class CallText {

    private final String batch;

    /** For each place in the sent batch: the place in the given batch. */
    private final int[] order;

    private CallText(String batch, int[] order) {
        this.batch = batch;
        this.order = order;
    }

    public static CallText of(List<Operation> operations) {
        int[] order = IntStream.range(0, operations.size())
                .boxed()
                .sorted(Comparator.<Integer, String>comparing(
                                i -> operations.get(i).claim().key().name())
                        .thenComparing(i ->
                                LockText.kind(operations.get(i).claim().key().kind())))
                .mapToInt(Integer::intValue)
                .toArray();
        String batch =
                IntStream.of(order).mapToObj(i -> line(operations.get(i))).collect(Collectors.joining());
        return new CallText(batch, order);
    }

    /** Returns the text to send, as {@code holdfast_call_v1} reads it. */
    public String batch() {
        return batch;
    }

    private static String line(Operation operation) {
        LockClaim claim = operation.claim();
        LockKey key = claim.key();
        return Stream.<Object>of(
                        operation.word(),
                        LockText.kind(key.kind()),
                        LockText.mode(key.kind()),
                        key.permits(),
                        claim.permits(),
                        claim.attempt(),
                        operation.leaseMillis(),
                        operation.token(),
                        operation.isWatched() ? 1 : 0,
                        hex(LockText.name(key.name())),
                        hex(claim.id()))
                .map(String::valueOf)
                .collect(Collectors.joining(" ", "", "|"));
    }

    private static String hex(String text) {
        return HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Reads the answer of the database. The numbers in it are those of the sent batch. */
    public List<Answer> answers(String lines) {
        return Answer.lines(lines).stream()
                .map(it -> it.isPush() ? it : it.withNumber(order[it.number() - 1] + 1))
                .toList();
    }
}

package io.holdfast.r2dbc.internal.mariadb;

import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.LockText;
import io.holdfast.r2dbc.internal.protocol.Operation;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;

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
        StringBuilder text = new StringBuilder();
        for (int i : order) {
            append(text, operations.get(i));
        }
        return new CallText(text.toString(), order);
    }

    /** Returns the text to send, as {@code holdfast_call_v1} reads it. */
    public String batch() {
        return batch;
    }

    private static void append(StringBuilder text, Operation operation) {
        var claim = operation.claim();
        var key = claim.key();
        text.append(operation.word())
                .append(' ')
                .append(LockText.kind(key.kind()))
                .append(' ')
                .append(LockText.mode(key.kind()))
                .append(' ')
                .append(key.permits())
                .append(' ')
                .append(claim.permits())
                .append(' ')
                .append(claim.attempt())
                .append(' ')
                .append(operation.leaseMillis())
                .append(' ')
                .append(operation.token())
                .append(' ')
                .append(operation.isWatched() ? '1' : '0')
                .append(' ')
                .append(hex(LockText.name(key.name())))
                .append(' ')
                .append(hex(claim.id()))
                .append('|');
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

package io.holdfast.r2dbc.internal.mariadb;

import io.holdfast.r2dbc.internal.protocol.LockText;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes operations as one text, for procedures that accept no arrays. */
public final class CallText {

    private CallText() {}

    /** Returns the text to send, as {@code holdfast_call_v1} reads it. */
    public static String of(List<Operation> operations) {
        return operations.stream().map(CallText::line).collect(Collectors.joining());
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
}

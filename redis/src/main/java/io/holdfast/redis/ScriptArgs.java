package io.holdfast.redis;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The arguments of one command, each as a bulk string of the Redis protocol, in one array. The driver's own has an object and an array
 * for each of them, which together were a third of what a lock cycle allocates.
 */
final class ScriptArgs extends CommandArgs<String, String> {

    private static final byte[] NONE = {};

    /** For the digits of an int. */
    private static final int LONGEST_LENGTH = 10;

    private byte[] bytes;
    private int size;
    private int count;

    /**
     * Empty.
     *
     * @param capacity in bytes, to begin with
     */
    ScriptArgs(int capacity) {
        super(StringCodec.UTF8);
        bytes = new byte[capacity];
    }

    /** In UTF-8. */
    @CanIgnoreReturnValue
    ScriptArgs text(String text) {
        return key(NONE, text, "");
    }

    @CanIgnoreReturnValue
    ScriptArgs number(long number) {
        return text(Long.toString(number));
    }

    /** One argument of two parts. */
    @CanIgnoreReturnValue
    ScriptArgs key(byte[] head, String tail) {
        return key(head, tail, "");
    }

    /** One argument of three parts. */
    @CanIgnoreReturnValue
    ScriptArgs key(byte[] head, String middle, String tail) {
        int length = head.length + length(middle) + length(tail);
        reserve(length + LONGEST_LENGTH + 5);
        bytes[size++] = '$';
        writeDigits(length);
        endLine();
        System.arraycopy(head, 0, bytes, size, head.length);
        size += head.length;
        write(middle);
        write(tail);
        endLine();
        count++;
        return this;
    }

    /** In UTF-8. */
    private static int length(String text) {
        return isAscii(text) ? text.length() : text.getBytes(StandardCharsets.UTF_8).length;
    }

    private static boolean isAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) > 0x7f) {
                return false;
            }
        }
        return true;
    }

    @SuppressWarnings("deprecation") // getBytes(int, int, byte[], int): the one that copies and makes no array
    private void write(String text) {
        if (isAscii(text)) {
            text.getBytes(0, text.length(), bytes, size);
            size += text.length();
        } else {
            byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
            System.arraycopy(encoded, 0, bytes, size, encoded.length);
            size += encoded.length;
        }
    }

    private void writeDigits(int number) {
        int end = size + 1;
        for (int rest = number / 10; rest > 0; rest /= 10) {
            end++;
        }
        size = end;
        int rest = number;
        do {
            bytes[--end] = (byte) ('0' + rest % 10);
            rest /= 10;
        } while (rest > 0);
    }

    private void endLine() {
        bytes[size++] = '\r';
        bytes[size++] = '\n';
    }

    private void reserve(int more) {
        if (bytes.length - size < more) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
        }
    }

    @Override
    public int count() {
        return count;
    }

    @Override
    public void encode(ByteBuf buffer) {
        buffer.writeBytes(bytes, 0, size);
    }

    /** For the driver's messages: as they are sent, on one line. */
    @Override
    public String toString() {
        return new String(bytes, 0, size, StandardCharsets.UTF_8).replace("\r\n", " ");
    }
}

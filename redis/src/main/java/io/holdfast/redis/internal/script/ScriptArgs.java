package io.holdfast.redis.internal.script;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The arguments of one command, each as a bulk string of the Redis protocol, in one array. The driver's own class has
 * an object and an array for each argument, which together were a third of what a lock cycle allocates.
 */
public final class ScriptArgs extends CommandArgs<String, String> {

    /** The size of short arguments, with their lengths and the line ends. */
    static final int USUAL_BYTES = 512;

    /** A longer array is not kept: few commands carry a script, or renew hundreds of claims. */
    private static final int MOST_KEPT = 8_192;

    private static final byte[] NONE = {};

    /** The digits of an int. */
    private static final int LONGEST_LENGTH = 10;

    /** The digits of a long. */
    private static final int LONGEST_NUMBER = 19;

    /** {@code $}, the length, and the end of the line. */
    private static final int LONGEST_HEAD = 3 + LONGEST_LENGTH;

    private byte[] bytes;

    /** The start of the argument that is being written in parts. */
    private int begun;

    private int size;
    private int count;

    /**
     * Begins without arguments.
     *
     * @param capacity in bytes, to begin with
     */
    public ScriptArgs(int capacity) {
        super(StringCodec.UTF8);
        bytes = new byte[capacity];
    }

    /** Makes room for the next command. */
    void clear() {
        size = 0;
        count = 0;
        if (bytes.length > MOST_KEPT) {
            bytes = new byte[USUAL_BYTES];
        }
    }

    /** The size in bytes. */
    int size() {
        return size;
    }

    /**
     * Cuts off everything after the first arguments.
     *
     * @param arguments how many are kept
     * @param bytesBefore how many bytes they have
     */
    void cut(int arguments, int bytesBefore) {
        count = arguments;
        size = bytesBefore;
    }

    /** Appends all arguments of the other one. */
    void append(ScriptArgs other) {
        reserve(other.size);
        System.arraycopy(other.bytes, 0, bytes, size, other.size);
        size += other.size;
        count += other.count;
    }

    /** Appends a text, in UTF-8. */
    @CanIgnoreReturnValue
    public ScriptArgs text(String text) {
        return key(NONE, text, "");
    }

    @CanIgnoreReturnValue
    public ScriptArgs number(long number) {
        return begin().part(number).end();
    }

    /** Appends one argument of two parts. */
    @CanIgnoreReturnValue
    public ScriptArgs key(byte[] head, String tail) {
        return key(head, tail, "");
    }

    /** Appends one argument of three parts. */
    @CanIgnoreReturnValue
    public ScriptArgs key(byte[] head, String middle, String tail) {
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

    /** Begins one argument of several parts, which are written in place. {@link #end} ends it. */
    public ScriptArgs begin() {
        reserve(LONGEST_HEAD);
        begun = size;
        size += LONGEST_HEAD;
        return this;
    }

    /** Appends a part, in UTF-8. */
    public ScriptArgs part(String text) {
        reserve(length(text));
        write(text);
        return this;
    }

    /** Appends a part: one character of ASCII. */
    public ScriptArgs part(char letter) {
        reserve(1);
        bytes[size++] = (byte) letter;
        return this;
    }

    /** Appends a part, in decimal digits. */
    public ScriptArgs part(long number) {
        if (number < 0) {
            return part(Long.toString(number));
        }
        reserve(LONGEST_NUMBER);
        writeDigits(number);
        return this;
    }

    /** Ends an argument of several parts. */
    @CanIgnoreReturnValue
    public ScriptArgs end() {
        int from = begun + LONGEST_HEAD;
        int length = size - from;
        size = begun;
        bytes[size++] = '$';
        writeDigits(length);
        endLine();
        System.arraycopy(bytes, from, bytes, size, length);
        size += length;
        reserve(2);
        endLine();
        count++;
        return this;
    }

    /** The length in UTF-8. */
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

    @SuppressWarnings("deprecation") // getBytes(int, int, byte[], int) copies without a new array
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

    private static int digits(long number) {
        int digits = 1;
        for (long rest = number / 10; rest > 0; rest /= 10) {
            digits++;
        }
        return digits;
    }

    private void writeDigits(long number) {
        int end = size + digits(number);
        size = end;
        long rest = number;
        do {
            bytes[--end] = (byte) ('0' + rest % 10);
            rest /= 10;
        } while (rest > 0);
    }

    private void endLine() {
        bytes[size++] = '\r';
        bytes[size++] = '\n';
    }

    /** Makes room for this many more bytes. */
    public void reserve(int more) {
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

    /** Writes the whole command. */
    void encode(CommandType type, ByteBuf buffer) {
        byte[] name = type.getBytes();
        buffer.ensureWritable(size + name.length + 2 * LONGEST_LENGTH + 8);
        writeHead('*', 1 + count, buffer);
        writeHead('$', name.length, buffer);
        buffer.writeBytes(name).writeByte('\r').writeByte('\n').writeBytes(bytes, 0, size);
    }

    private static void writeHead(char sign, int number, ByteBuf buffer) {
        buffer.writeByte(sign);
        int tens = 1;
        while (number / tens >= 10) {
            tens *= 10;
        }
        for (; tens > 0; tens /= 10) {
            buffer.writeByte('0' + number / tens % 10);
        }
        buffer.writeByte('\r').writeByte('\n');
    }

    /** Returns the arguments as they are sent, on one line, for the driver's messages. */
    @Override
    public String toString() {
        return new String(bytes, 0, size, StandardCharsets.UTF_8).replace("\r\n", " ");
    }
}

package io.holdfast.redis.internal.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

public class ScriptArgsTest {

    @Test
    void argumentsAreWrittenAsTheDriverWritesThem() {
        List<String> texts = List.of("", "a", "0123456789", "x".repeat(100), "Zoë", "🔒", "two\r\nlines");
        CommandArgs<String, String> drivers = new CommandArgs<>(StringCodec.UTF8);
        ScriptArgs ours = new ScriptArgs(1);
        for (String text : texts) {
            drivers.add(text.getBytes(StandardCharsets.UTF_8));
            ours.text(text);
        }
        for (long number : new long[] {0, 9, 10, -1, Long.MAX_VALUE}) {
            drivers.add(number);
            ours.number(number);
        }
        assertThat(ours.count()).isEqualTo(drivers.count());
        assertThat(encoded(ours)).isEqualTo(encoded(drivers));
    }

    @Test
    void partsMakeOneArgument() {
        byte[] head = "{Zoë}".getBytes(StandardCharsets.UTF_8);
        ScriptArgs args =
                new ScriptArgs(8).key(head, ":queue").key(head, ":gone:", "ï").text("end");
        assertThat(sent(args)).containsExactly("{Zoë}:queue", "{Zoë}:gone:ï", "end");
    }

    @Test
    void anArgumentOfPartsIsWrittenAsTheSameTextIs() {
        for (String text : List.of("", "a", "ü", "x".repeat(9), "x".repeat(10), "x".repeat(1_000))) {
            for (long number : new long[] {0, 9, 10, Integer.MAX_VALUE + 1L, Long.MAX_VALUE, -1, Long.MIN_VALUE}) {
                ScriptArgs parts = new ScriptArgs(1);
                parts.text("before")
                        .begin()
                        .part('T')
                        .part(text)
                        .part(number)
                        .end()
                        .text("behind");
                ScriptArgs whole = new ScriptArgs(1);
                whole.text("before").text("T" + text + number).text("behind");
                assertThat(parts).hasToString(whole.toString());
                assertThat(parts.count()).isEqualTo(3);
            }
        }
    }

    @Test
    void argumentsCanBeWrittenMoreThanOnce() {
        ScriptArgs args = new ScriptArgs(8).text("once").number(2);
        assertThat(encoded(args)).isEqualTo(encoded(args));
    }

    /** Returns the arguments, as a server reads them. */
    public static List<String> sent(ScriptArgs args) {
        ByteBuf wire = Unpooled.buffer();
        args.encode(wire);
        List<String> all = new ArrayList<>();
        while (wire.isReadable()) {
            assertThat(wire.readByte()).isEqualTo((byte) '$');
            int length = Integer.parseInt(line(wire));
            all.add(wire.readCharSequence(length, StandardCharsets.UTF_8).toString());
            assertThat(line(wire)).isEmpty();
        }
        assertThat(args.count()).isEqualTo(all.size());
        return all;
    }

    private static String line(ByteBuf wire) {
        int length = wire.bytesBefore((byte) '\r');
        String line = wire.readCharSequence(length, StandardCharsets.US_ASCII).toString();
        wire.skipBytes(2);
        return line;
    }

    private static String encoded(CommandArgs<String, String> args) {
        ByteBuf wire = Unpooled.buffer();
        args.encode(wire);
        return wire.toString(StandardCharsets.UTF_8);
    }
}

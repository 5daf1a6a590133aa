package io.holdfast.proof.sim;

import io.holdfast.proof.sim.RedisMemory.RedisError;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LoadState;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Varargs;
import org.luaj.vm2.compiler.LuaC;
import org.luaj.vm2.lib.PackageLib;
import org.luaj.vm2.lib.StringLib;
import org.luaj.vm2.lib.TableLib;
import org.luaj.vm2.lib.VarArgFunction;
import org.luaj.vm2.lib.jse.JseBaseLib;
import org.luaj.vm2.lib.jse.JseMathLib;

/**
 * Runs Lua as the server does: {@code redis.call}, {@code redis.pcall}, and values as documented under "Data type conversion". It supports the part of
 * Lua 5.1 that our scripts use. Two things differ: {@code ..} writes large whole numbers with all digits, and {@code string.format} knows only
 * {@code %.0f} and {@code %d}, also with leading zeros. Scripts are interpreted: luaj's compiler to classes confused two variables of one of them.
 */
final class RedisScripts {

    /** Of one run of a script: many times what the costliest one does. */
    private static final int MOST_CALLS = 20_000;

    private final Globals lua = new Globals();
    private final Map<String, LuaValue> compiled = new HashMap<>();
    private RedisMemory memory;
    private int calls;

    RedisScripts() {
        lua.load(new JseBaseLib());
        lua.load(new PackageLib());
        lua.load(new StringLib());
        lua.load(new TableLib());
        lua.load(new JseMathLib());
        LoadState.install(lua);
        LuaC.install(lua);
        lua.set("unpack", lua.get("table").get("unpack"));
        lua.get("string").set("format", new Format());
        LuaTable redis = new LuaTable();
        redis.set("call", new Call(true));
        redis.set("pcall", new Call(false));
        redis.set("error_reply", new ErrorReply());
        redis.set("sha1hex", new Sha1Hex());
        lua.set("redis", redis);
    }

    /** A number, a list of numbers, texts and such lists, or an error as a {@link RedisError}. */
    Object run(RedisMemory on, String body, List<String> keys, List<String> args) {
        memory = on;
        calls = 0;
        lua.set("KEYS", table(keys));
        lua.set("ARGV", table(args));
        LuaValue script = compiled.computeIfAbsent(body, text -> lua.load(text, "script"));
        LuaValue reply;
        try {
            reply = script.call();
        } catch (LuaError failed) {
            throw new RedisError(
                    failed.getCause() instanceof RedisError cause ? cause.getMessage() : "ERR " + failed.getMessage());
        }
        return reply(reply);
    }

    private static Object reply(LuaValue value) {
        if (value.isnumber()) {
            return value.tolong();
        }
        if (value.istable()) {
            LuaValue error = value.get("err");
            if (!error.isnil()) {
                throw new RedisError(error.tojstring());
            }
            List<Object> parts = new ArrayList<>();
            for (int i = 1; !value.get(i).isnil(); i++) {
                LuaValue part = value.get(i);
                parts.add(part.type() == LuaValue.TSTRING ? java((LuaString) part) : reply(part));
            }
            return parts;
        }
        throw new RedisError("ERR the script answered " + value);
    }

    private static LuaTable table(List<String> values) {
        LuaTable table = new LuaTable(values.size(), 0);
        for (int i = 0; i < values.size(); i++) {
            table.set(i + 1, lua(values.get(i)));
        }
        return table;
    }

    /** One character for each byte, here as in the arguments of a command. */
    private static LuaString lua(String text) {
        return LuaString.valueUsing(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String java(LuaString text) {
        return new String(text.m_bytes, text.m_offset, text.m_length, StandardCharsets.ISO_8859_1);
    }

    private static LuaValue value(Object reply) {
        if (reply == null) {
            return LuaValue.FALSE;
        }
        if (reply instanceof Long number) {
            return LuaValue.valueOf((double) number);
        }
        if (reply instanceof List<?> list) {
            LuaTable table = new LuaTable(list.size(), 0);
            for (int i = 0; i < list.size(); i++) {
                table.set(i + 1, value(list.get(i)));
            }
            return table;
        }
        return lua((String) reply);
    }

    private static String text(LuaValue value) {
        if (value.type() == LuaValue.TNUMBER) {
            double number = value.todouble();
            return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
        }
        if (value.type() != LuaValue.TSTRING) {
            throw new RedisError("ERR Lua redis lib command arguments must be strings or integers");
        }
        return java((LuaString) value);
    }

    private final class Call extends VarArgFunction {

        private final boolean raises;

        Call(boolean raises) {
            this.raises = raises;
        }

        @Override
        public Varargs invoke(Varargs args) {
            if (++calls > MOST_CALLS) {
                throw new AssertionError("a script does not end");
            }
            List<String> command = new ArrayList<>(args.narg());
            for (int i = 1; i <= args.narg(); i++) {
                command.add(text(args.arg(i)));
            }
            try {
                return value(memory.run(command));
            } catch (RedisError error) {
                if (raises) {
                    throw new LuaError(error);
                }
                LuaTable table = new LuaTable();
                table.set("err", error.getMessage());
                return table;
            }
        }
    }

    private static final class ErrorReply extends VarArgFunction {

        @Override
        public Varargs invoke(Varargs args) {
            LuaTable table = new LuaTable();
            table.set("err", args.arg1());
            return table;
        }
    }

    private static final class Sha1Hex extends VarArgFunction {

        @Override
        public Varargs invoke(Varargs args) {
            return LuaValue.valueOf(SimulatedRedis.sha1(args.arg1().tojstring()));
        }
    }

    private static final class Format extends VarArgFunction {

        private final Map<LuaString, Fields> known = new HashMap<>();

        @Override
        public Varargs invoke(Varargs args) {
            Fields format = known.computeIfAbsent(args.checkstring(1), Fields::of);
            StringBuilder text = new StringBuilder();
            int next = 2;
            for (Field field : format.fields()) {
                double number = args.checkdouble(next++);
                String digits = Long.toString((long) (field.isWhole() ? number : Math.rint(number)));
                text.append(field.before());
                for (int i = digits.length(); i < field.width(); i++) {
                    text.append('0');
                }
                text.append(digits);
            }
            return lua(text.append(format.after()).toString());
        }
    }

    /** One number of a format: the text before it, and its width. */
    private record Field(String before, int width, boolean isWhole) {}

    /** A parsed format. */
    private record Fields(List<Field> fields, String after) {

        private static final Pattern NUMBER = Pattern.compile("%(?:0(\\d+))?(\\.0f|d)");

        static Fields of(LuaString format) {
            String text = java(format);
            List<Field> fields = new ArrayList<>();
            int at = 0;
            for (Matcher numbers = NUMBER.matcher(text); numbers.find(); at = numbers.end()) {
                int width = numbers.group(1) == null ? 0 : Integer.parseInt(numbers.group(1));
                fields.add(new Field(
                        text.substring(at, numbers.start()),
                        width,
                        numbers.group(2).equals("d")));
            }
            Fields all = new Fields(fields, text.substring(at));
            if (all.toString().indexOf('%') >= 0) {
                throw new LuaError("not simulated: format " + text);
            }
            return all;
        }
    }
}

package io.holdfast.cli;

import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.Slf4JLoggerFactory;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.logging.LogManager;
import java.util.stream.Stream;

/** Starts the program. Its output is UTF-8 in every locale. */
public final class Main {

    private static final char REPLACED = '\ufffd';

    private Main() {}

    /**
     * Runs one command and ends the JVM.
     *
     * @param arguments see {@code help}
     */
    public static void main(String[] arguments) {
        // Netty and Lettuce take the logging of the JDK, which writes to the error output, unless SLF4J is named here.
        InternalLoggerFactory.setDefaultFactory(Slf4JLoggerFactory.INSTANCE);
        LogManager.getLogManager().reset(); // and gRPC knows no other one
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
        PrintStream err = stream(FileDescriptor.err);
        if (isDistorted(arguments)) {
            err.println(
                    "This locale has no letters beyond ASCII, so a name or a password is not the one that you typed."
                            + " Set LC_ALL=C.UTF-8.");
            System.exit(Program.USAGE);
        }
        int code = new Program(System.getenv(), in, stream(FileDescriptor.out), err).run(List.of(arguments));
        System.exit(code); // threads of drivers may still run
    }

    /** Whether the JVM has replaced bytes that it cannot read. With UTF-8, the user may have typed the replacement. */
    private static boolean isDistorted(String[] arguments) {
        Stream<String> settings = Stream.of(Arguments.STORE, Stores.USER, Stores.PASSWORD)
                .map(it -> System.getenv().getOrDefault(it, ""));
        return !"UTF-8".equals(System.getProperty("sun.jnu.encoding"))
                && Stream.concat(Stream.of(arguments), settings).anyMatch(it -> it.indexOf(REPLACED) >= 0);
    }

    private static PrintStream stream(FileDescriptor to) {
        return new PrintStream(new FileOutputStream(to), true, StandardCharsets.UTF_8);
    }
}

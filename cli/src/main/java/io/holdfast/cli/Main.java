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

/** Starts the program. Its output is UTF-8 in every locale. */
public final class Main {

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
        int code = new Program(System.getenv(), in, stream(FileDescriptor.out), stream(FileDescriptor.err))
                .run(List.of(arguments));
        System.exit(code); // threads of drivers may still run
    }

    private static PrintStream stream(FileDescriptor to) {
        return new PrintStream(new FileOutputStream(to), true, StandardCharsets.UTF_8);
    }
}

package io.holdfast.spi.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The label of a client, which is part of the ids of its claims. The default is made once per process. It needs no name
 * server, and uses nothing of the command line but the class or the jar that was started.
 */
public final class OwnerLabel {

    /** The longest label, in characters. */
    public static final int MOST_CHARS = 48;

    private static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9._:-]{1," + MOST_CHARS + "}");
    private static final int MOST_SHOWN = 60;
    private static final int MOST_OF_HOST = 24;
    private static final Path KERNEL_HOST_NAME = Path.of("/proc/sys/kernel/hostname");

    /** Initialised when a client first needs it. */
    private static final class OfProcess {

        static final String HOST = host();
        static final long PID = ProcessHandle.current().pid();
        static final String LABEL = of(application(System.getProperty("sun.java.command")), HOST, PID);
    }

    private OwnerLabel() {}

    /** {@return the label of this process: application, host and process} */
    public static String ofProcess() {
        return OfProcess.LABEL;
    }

    /**
     * {@return the label of this process with a name that the application gives, and with host and process}
     *
     * @param application any text; each character that a label may not contain becomes {@code -}
     */
    public static String ofApplication(String application) {
        return of(application, OfProcess.HOST, OfProcess.PID);
    }

    /**
     * {@return the label, if it is a valid one}
     *
     * @param label from a user
     * @throws IllegalArgumentException if the text is not a valid label
     */
    public static String require(String label) {
        if (!ALLOWED.matcher(label).matches()) {
            throw new IllegalArgumentException(
                    "owner must be 1 to %d characters, each a letter or digit of ASCII or one of . _ : -, was '%s'"
                            .formatted(MOST_CHARS, Printable.start(label, MOST_SHOWN)));
        }
        return label;
    }

    /** Keeps the process number, the end of the host, which tells pods apart, and the beginning of the application. */
    static String of(String application, String host, long pid) {
        String its = clean(host, "host");
        String end = ":" + its.substring(Math.max(0, its.length() - MOST_OF_HOST)) + ":" + pid;
        String name = clean(application, "java");
        return name.substring(0, Math.min(name.length(), MOST_CHARS - end.length())) + end;
    }

    private static String clean(String text, String ifEmpty) {
        String stripped = text.strip();
        return stripped.isEmpty() ? ifEmpty : stripped.replaceAll("[^A-Za-z0-9._-]", "-");
    }

    /** Takes the first word of the command, without its path: the arguments after it may be secret. */
    static String application(@Nullable String command) {
        String started = command == null ? "" : command.strip().split("\\s", 2)[0];
        String file = started.substring(Math.max(started.lastIndexOf('/'), started.lastIndexOf('\\')) + 1);
        if (file.endsWith(".jar")) {
            return file.substring(0, file.length() - ".jar".length());
        }
        return file.substring(file.lastIndexOf('.') + 1);
    }

    /** Returns the host name without the domain. */
    private static String host() {
        String name = Stream.of("HOSTNAME", "COMPUTERNAME")
                .map(System::getenv)
                .filter(it -> it != null && !it.isBlank())
                .findFirst()
                .orElseGet(OwnerLabel::kernelHostName);
        int dot = name.indexOf('.');
        return dot > 0 ? name.substring(0, dot) : name;
    }

    /** Reads a file of the kernel's memory, not of a disk. */
    private static String kernelHostName() {
        try {
            return Files.readString(KERNEL_HOST_NAME).strip();
        } catch (IOException | SecurityException notHere) {
            return "";
        }
    }
}

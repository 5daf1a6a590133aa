package io.holdfast.proof.model;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import tlc2.TLC;
import util.InternTable;
import util.SimpleFilenameToStream;
import util.ToolIO;
import util.UniqueString;

/**
 * One JVM that runs TLC in one folder after the other: only the first runs are cold. TLC makes anew what it keeps in static fields, but for the places of
 * names, which are forgotten here. {@code explorations.csv} has the number of states of each exploration, so a run that another one has disturbed fails.
 */
final class TlcServer {

    private TlcServer() {}

    /** Reads a folder from each line. Answers each one with a line when its {@code tlc.txt} is complete. */
    public static void main(String[] options) throws IOException, ReflectiveOperationException {
        PrintStream answers = System.out;
        BufferedReader folders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String folder = folders.readLine(); folder != null; folder = folders.readLine()) {
            try (PrintStream printed =
                    new PrintStream(Files.newOutputStream(Path.of(folder, "tlc.txt")), false, StandardCharsets.UTF_8)) {
                System.setOut(printed);
                System.setErr(printed);
                ToolIO.out = printed;
                ToolIO.err = printed;
                run(folder, options);
            }
            answers.println("done");
            answers.flush();
        }
        Runtime.getRuntime().halt(0); // a thread of TLC never ends
    }

    private static void run(String folder, String[] options) throws ReflectiveOperationException {
        forgetPlaces();
        ToolIO.setUserDir(folder);
        TLC tlc = new TLC();
        String[] args = new String[options.length + 3];
        System.arraycopy(options, 0, args, 0, options.length);
        args[options.length] = "-metadir";
        args[options.length + 1] = folder;
        args[options.length + 2] = "MC";
        if (tlc.handleParameters(args)) {
            tlc.setResolver(new SimpleFilenameToStream());
            int unused = tlc.process();
        }
    }

    /** Where the variables and definitions of a model are is in their names, of which there is one for all models. */
    private static void forgetPlaces() throws ReflectiveOperationException {
        Field table = InternTable.class.getDeclaredField("table");
        table.setAccessible(true);
        for (UniqueString name : (UniqueString[]) table.get(UniqueString.internTbl)) {
            if (name != null) {
                name.setLoc(-1);
            }
        }
    }
}

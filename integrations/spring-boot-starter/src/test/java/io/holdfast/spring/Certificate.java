package io.holdfast.spring;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A certificate for 127.0.0.1, which server and client share, and which is all that they trust. */
record Certificate(Path file) {

    private static final String PASSWORD = "of-the-test";

    static Certificate in(Path folder) throws IOException {
        Path file = folder.resolve("both.p12");
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "both",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=127.0.0.1",
                        "-ext",
                        "SAN=ip:127.0.0.1",
                        "-validity",
                        "2",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        PASSWORD))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("keytool.log").toFile())
                .start();
        if (process.onExit().join().exitValue() != 0) {
            throw new IllegalStateException("keytool made no certificate");
        }
        return new Certificate(file);
    }

    /** Returns the properties of a bundle with it. */
    String[] bundle(String name) {
        return Stream.of("keystore", "truststore")
                .map("spring.ssl.bundle.jks.%s.%%s.".formatted(name)::formatted)
                .flatMap(store -> Stream.of(
                        store + "location=" + file.toUri(), store + "password=" + PASSWORD, store + "type=PKCS12"))
                .toArray(String[]::new);
    }
}

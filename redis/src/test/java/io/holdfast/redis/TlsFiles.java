package io.holdfast.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;

/**
 * A certificate for 127.0.0.1 that only this test trusts, made by the JDK's keytool.
 *
 * @param keyStore with certificate and key, PKCS 12
 * @param trustStore with the certificate, PKCS 12
 * @param certificate in PEM
 * @param key in PEM
 */
record TlsFiles(Path keyStore, Path trustStore, Path certificate, Path key) {

    static final String PASSWORD = "of-the-test";
    private static final String ALIAS = "server";

    static TlsFiles in(Path folder) {
        try {
            Path keyStore = folder.resolve("server.p12");
            generate(keyStore);
            KeyStore made = load(keyStore);
            Path trustStore = folder.resolve("trust.p12");
            KeyStore trust = KeyStore.getInstance("PKCS12");
            trust.load(null, null);
            trust.setCertificateEntry(ALIAS, made.getCertificate(ALIAS));
            try (OutputStream out = Files.newOutputStream(trustStore)) {
                trust.store(out, PASSWORD.toCharArray());
            }
            Path certificate = folder.resolve("server.crt");
            Path key = folder.resolve("server.key");
            Key secret = made.getKey(ALIAS, PASSWORD.toCharArray());
            pem(certificate, "CERTIFICATE", made.getCertificate(ALIAS).getEncoded());
            pem(key, "PRIVATE KEY", secret.getEncoded());
            return new TlsFiles(keyStore, trustStore, certificate, key);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    static KeyStore load(Path file) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        return store;
    }

    private static void generate(Path keyStore) throws IOException {
        Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        Process process = new ProcessBuilder(List.of(
                        keytool.toString(),
                        "-genkeypair",
                        "-alias",
                        ALIAS,
                        "-keyalg",
                        "RSA",
                        "-keysize",
                        "2048",
                        "-dname",
                        "CN=127.0.0.1",
                        "-ext",
                        "SAN=ip:127.0.0.1",
                        "-validity",
                        "2",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        keyStore.toString(),
                        "-storepass",
                        PASSWORD))
                .redirectErrorStream(true)
                .redirectOutput(keyStore.resolveSibling("keytool.log").toFile())
                .start();
        int code = process.onExit().join().exitValue();
        if (code != 0) {
            throw new AssertionError("keytool answered " + code);
        }
    }

    private static void pem(Path file, String kind, byte[] content) throws IOException {
        String text = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(content);
        Files.writeString(file, "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n".formatted(kind, text));
    }
}

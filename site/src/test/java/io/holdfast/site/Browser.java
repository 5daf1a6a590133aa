package io.holdfast.site;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.openqa.selenium.By;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.openqa.selenium.support.ui.WebDriverWait;

/** Chromium or Chrome of this machine, which opens the site from its files. Nothing is downloaded. */
final class Browser implements AutoCloseable {

    /** The system property that names the program of the browser. Else it is looked for on the PATH. */
    static final String PROGRAM = "holdfast.browser";

    /** The system property that names the program of its driver. Else it is looked for on the PATH. */
    static final String DRIVER = "holdfast.chromedriver";

    private static final List<String> PROGRAMS =
            List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");

    /** What a page asks the network for. */
    private static final Pattern REQUEST =
            Pattern.compile("\"method\":\"Network\\.requestWillBeSent\".*?\"request\":\\{.*?\"url\":\"([^\"]+)\"");

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    /** Whether this machine has a browser and its driver. */
    static boolean isThere() {
        return program().isPresent() && driverProgram().isPresent();
    }

    static Browser start() {
        ChromeOptions options = new ChromeOptions();
        options.setBinary(program().orElseThrow());
        options.addArguments(
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-quic",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
                "--hide-scrollbars");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        logs.enable(LogType.PERFORMANCE, Level.ALL);
        options.setCapability("goog:loggingPrefs", logs);
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(driverProgram().orElseThrow())
                .usingAnyFreePort()
                .build();
        return new Browser(new ChromeDriver(service, options));
    }

    private static Optional<File> program() {
        return find(PROGRAM, PROGRAMS.stream());
    }

    private static Optional<File> driverProgram() {
        return find(DRIVER, Stream.of("chromedriver"));
    }

    private static Optional<File> find(String property, Stream<String> names) {
        String named = System.getProperty(property);
        Stream<File> candidates = named != null
                ? Stream.of(new File(named))
                : names.flatMap(name -> Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .map(folder -> new File(folder, name)));
        return candidates.filter(File::canExecute).findFirst();
    }

    ChromeDriver driver() {
        return driver;
    }

    void open(Path file) {
        driver.get(file.toUri().toString());
    }

    void open(String address) {
        open(BuiltSite.VERSION.resolve(address));
    }

    WebElement find(String selector) {
        return driver.findElement(By.cssSelector(selector));
    }

    /** Waits for it, but not for ever. */
    <T> T await(Function<Browser, T> condition) {
        return new WebDriverWait(driver, Duration.ofSeconds(20), Duration.ofMillis(20))
                .until(it -> condition.apply(this));
    }

    Object run(String script, Object... arguments) {
        return driver.executeScript(script, arguments);
    }

    void size(int width, int height) {
        boolean isPhone = width < 600;
        command(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", isPhone));
    }

    /** What the reader's system prefers: {@code light} or {@code dark}, and nothing that moves. */
    void prefer(String colours) {
        command(
                "Emulation.setEmulatedMedia",
                Map.of(
                        "features",
                        List.of(
                                Map.of("name", "prefers-color-scheme", "value", colours),
                                Map.of("name", "prefers-reduced-motion", "value", "reduce"))));
    }

    void scripts(boolean run) {
        command("Emulation.setScriptExecutionDisabled", Map.of("value", !run));
    }

    private void command(String name, Map<String, Object> parameters) {
        Map<String, Object> unused = driver.executeCdpCommand(name, parameters);
    }

    /** Since the last call. */
    List<String> console() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .map(LogEntry::getMessage)
                .toList();
    }

    /** The addresses that pages have asked for since the last call. */
    List<String> requests() {
        return driver.manage().logs().get(LogType.PERFORMANCE).getAll().stream()
                .flatMap(entry -> REQUEST.matcher(entry.getMessage()).results())
                .map(it -> it.group(1))
                .toList();
    }

    /** For people: into target/pictures. */
    void picture(String name) {
        try {
            Path folder = Files.createDirectories(Path.of("target/pictures"));
            Path unused = Files.write(folder.resolve(name + ".png"), driver.getScreenshotAs(OutputType.BYTES));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        driver.quit();
    }
}

package io.holdfast.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.holdfast.testkit.server.LeftOut;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.support.ui.Select;

/** What readers do with the site, in a real browser. */
class BrowserIT {

    private static Browser browser;

    @BeforeAll
    static void start() {
        if (!Browser.isThere()) {
            String why =
                    "there is no chromium or google-chrome with a chromedriver on the PATH; put both there, or name them by -D%s and -D%s"
                            .formatted(Browser.PROGRAM, Browser.DRIVER);
            LeftOut.tell("the site in a browser", why);
            abort(why);
        }
        browser = Browser.start();
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void aLargeLightScreen() {
        browser.size(1440, 1000);
        browser.prefer("light");
        browser.open("index.html");
        // What a test before this one has chosen.
        if ((Long) browser.run("const before = localStorage.length; localStorage.clear(); return before") > 0) {
            browser.open("index.html");
        }
    }

    @AfterEach
    void nothingIsOnTheConsoleAndNothingCameFromElsewhere() {
        assertThat(browser.console()).isEmpty();
        assertThat(browser.requests()).isNotEmpty().allMatch(it -> it.startsWith("file:") || it.startsWith("data:"));
    }

    @Test
    void aReaderFollowsLinks() {
        browser.open(BuiltSite.ROOT.resolve("index.html"));
        browser.await(it -> it.driver().getCurrentUrl().endsWith(BuiltSite.VERSIONS.get(0) + "/index.html"));

        click("Concepts");
        assertThat(heading()).isEqualTo("Concepts");
        browser.find("article a[href='#the-terms']").click();
        browser.await(it -> it.run("return document.getElementById('the-terms').getBoundingClientRect().top < 200"));
        assertThat(top("the-terms")).as("below the bar at the top").isGreaterThan(50);
        browser.find("a[rel=next]").click();
        assertThat(heading()).isEqualTo("Start with Redis");
        browser.driver().navigate().back();
        assertThat(heading()).isEqualTo("Concepts");
        browser.find(".brand").click();
        assertThat(heading()).isEqualTo("Holdfast");
    }

    private static void click(String link) {
        browser.driver().findElement(By.linkText(link)).click();
    }

    private static String heading() {
        return ((String) browser.run("return document.querySelector('h1').firstChild.textContent")).strip();
    }

    private static double top(String id) {
        return ((Number) browser.run("return document.getElementById(arguments[0]).getBoundingClientRect().top", id))
                .doubleValue();
    }

    @Test
    void aReaderSearchesWithTheKeyboard() {
        browser.open("docs/start/redis.html");
        browser.find("body").sendKeys("/");
        WebElement search = browser.driver().switchTo().activeElement();
        assertThat(search.getAttribute("id")).isEqualTo("search");
        search.sendKeys("quarantine");
        browser.await(it -> it.find("#found a").isDisplayed());
        browser.picture("search");
        assertThat(browser.find("#found").getText()).contains("Operate Redlock");
        assertThat(browser.find("#found mark").getText()).isEqualToIgnoringCase("quarantine");

        search.sendKeys(Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ENTER);
        browser.await(it -> !it.driver().getCurrentUrl().endsWith("redis.html"));
        assertThat(browser.find("article").getText()).containsIgnoringCase("quarantine");
        assertThat(browser.driver().getCurrentUrl()).contains("/docs/").contains("#");
    }

    @ParameterizedTest
    @ValueSource(strings = {"quarantin", "quarentine", "waittimeout", "holdfast.deliver-on", "redisson migrating"})
    void theSearchFindsPartsOfWordsAndSmallMistakes(String typed) {
        browser.find("#search").sendKeys(typed);
        browser.await(it -> it.find("#found a").isDisplayed());
    }

    @Test
    void theSearchSaysThatItFoundNothing() {
        browser.find("#search").sendKeys("qqxxyyzz");
        browser.await(it -> it.find("#found p").isDisplayed());
        browser.find("#search").sendKeys(Keys.ESCAPE);
        assertThat(browser.find("#found").isDisplayed()).isFalse();
    }

    @Test
    void theSystemChoosesTheColoursAndTheSwitchChangesThem() {
        assertThat(isDark()).isFalse();
        browser.prefer("dark");
        assertThat(isDark()).isTrue();
        browser.find(".theme").click();
        assertThat(isDark()).isFalse();
        browser.open("docs/start/concepts.html");
        assertThat(isDark()).as("the choice holds on the next page").isFalse();
        browser.find(".theme").click();
        assertThat(isDark()).isTrue();
    }

    private static boolean isDark() {
        String colour = (String) browser.run("return getComputedStyle(document.body).backgroundColor");
        assertThat(colour).isIn("rgb(255, 255, 255)", "rgb(20, 23, 28)");
        return colour.equals("rgb(20, 23, 28)");
    }

    /** On pages that have between them all that a page can have: tables, code, pictures, quotations, a list of children. */
    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void allTextCanBeRead(String colours) throws IOException {
        browser.prefer(colours);
        String contrast = Resource.read(BrowserIT.class, "contrast.js");
        for (String address : List.of(
                "index.html",
                "readme.html",
                "docs/start/redis.html",
                "docs/guides/kotlin.html",
                "docs/guides/spring-boot.html",
                "docs/operate/databases.html",
                "docs/trust/records/index.html",
                "benchmarks/index.html")) {
            browser.open(address);
            assertThat((List<?>) browser.run(contrast)).as(address).isEmpty();
        }
    }

    /** The picture follows the switch, too. */
    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void picturesHaveTheColoursOfThePage(String colours) throws IOException {
        browser.open("docs/start/concepts.html");
        if (colours.equals("dark")) {
            browser.find(".theme").click();
        }
        WebElement picture = browser.find("article img");
        browser.await(it -> it.run("return arguments[0].complete && arguments[0].naturalWidth > 0", picture));
        browser.picture("concepts-" + colours);

        BufferedImage pixels = ImageIO.read(new ByteArrayInputStream(picture.getScreenshotAs(OutputType.BYTES)));
        int bright = 0;
        for (int x = 0; x < pixels.getWidth(); x++) {
            for (int y = 0; y < pixels.getHeight(); y++) {
                bright += (pixels.getRGB(x, y) >> 8 & 0xff) > 128 ? 1 : 0;
            }
        }
        double share = (double) bright / (pixels.getWidth() * pixels.getHeight());
        assertThat(share).isBetween(colours.equals("dark") ? 0.005 : 0.5, colours.equals("dark") ? 0.5 : 0.995);
    }

    @Test
    void noPageScrollsSidewaysOnAPhone() {
        browser.size(390, 844);
        List<String> wide = new ArrayList<>();
        for (Path page : BuiltSite.pages()) {
            browser.open(page);
            long needed = (Long) browser.run("return document.scrollingElement.scrollWidth");
            if (needed > 390) {
                wide.add(BuiltSite.VERSION.relativize(page) + " needs " + needed);
            }
        }
        assertThat(wide).isEmpty();
    }

    /** With a mouse or with the keys, and without scripts too. */
    @Test
    void aReaderTurnsToCodeOfAnotherStyle() {
        browser.scripts(false);
        try {
            browser.open("index.html");
            assertThat(shownTab()).contains("@PostMapping");
            click(browser.find("label[for=code-2]"));
            assertThat(shownTab()).contains("suspend fun");
            browser.find("#code-2").sendKeys(Keys.ARROW_RIGHT);
            assertThat(shownTab()).contains("Future<Long>");
        } finally {
            browser.scripts(true);
        }
        browser.picture("front");
    }

    private static void click(WebElement element) {
        element.click();
    }

    private static String shownTab() {
        return browser.driver().findElements(By.cssSelector(".tab")).stream()
                .filter(WebElement::isDisplayed)
                .map(WebElement::getText)
                .collect(Collectors.joining());
    }

    @Test
    void aTableThatIsWiderThanThePageSaysSoAndKeepsItsFirstColumn() {
        browser.size(1280, 900);
        browser.open("docs/decide/comparison.html");
        WebElement wide = browser.await(it -> it.find("#features ~ .table.wide"));
        assertThat((String) browser.run("return getComputedStyle(arguments[0], '::before').content", wide))
                .contains("Scroll sideways");
        String left = "return arguments[0].querySelector('td').getBoundingClientRect().left";
        Object before = browser.run(left, wide);
        browser.run("arguments[0].scrollIntoView(); arguments[0].scrollLeft = 200", wide);
        assertThat(browser.run("return arguments[0].scrollLeft", wide)).isNotEqualTo(0L);
        assertThat(browser.run(left, wide)).isEqualTo(before);
        browser.picture("wide-table");

        browser.open("docs/operate/kubernetes.html");
        assertThat(browser.driver().findElements(By.cssSelector(".table.wide"))).isEmpty();
    }

    @Test
    void aSearchMarksWholeWordsAndNoStopWords() {
        browser.find("#search").sendKeys("who holds a lock");
        browser.await(it -> it.find("#found a").isDisplayed());
        browser.picture("who-holds-a-lock");
        assertThat(browser.driver().findElements(By.cssSelector("#found mark")))
                .isNotEmpty()
                .extracting(WebElement::getText)
                .allMatch(word -> word.matches("(?i)(hold|lock)\\w*"));
    }

    @ParameterizedTest
    @ValueSource(ints = {360, 801, 820, 1201, 1440})
    void aPageFitsEachScreen(int width) {
        browser.size(width, 844);
        browser.open("docs/reference/options.html");
        assertThat((Long) browser.run("return document.scrollingElement.scrollWidth"))
                .isEqualTo(width);
    }

    @Test
    void thePhoneHasAMenu() {
        browser.size(390, 844);
        browser.open("docs/reference/options.html");
        browser.picture("phone");
        assertThat(browser.find("#menu").isDisplayed()).isFalse();
        browser.find(".menu-link:not(.close)").click();
        assertThat(browser.find("#menu").isDisplayed()).isTrue();
        assertThat(top("menu")).as("below the bar at the top").isGreaterThan(50);
        browser.picture("phone-menu");
        browser.find(".close").click();
        assertThat(browser.find("#menu").isDisplayed()).isFalse();
        browser.find(".menu-link:not(.close)").click();
        click("Start with ZooKeeper");
        assertThat(heading()).isEqualTo("Start with ZooKeeper");
        assertThat(browser.find("#menu").isDisplayed()).isFalse();
    }

    @Test
    void theListOfVersionsHasAll() {
        assertThat(new Select(browser.find(".version select")).getOptions())
                .extracting(WebElement::getText)
                .isEqualTo(BuiltSite.VERSIONS);
    }

    @Test
    void thePagesWorkWithoutScripts() {
        browser.scripts(false);
        try {
            browser.open("docs/start/concepts.html");
            assertThat(browser.find(".search").isDisplayed()).isFalse();
            assertThat(browser.find("article").getText()).contains("The life of a lease");
            assertThat(browser.find(".version").getText()).isEqualTo(BuiltSite.VERSIONS.get(0));
            click("Start with Redis");
            assertThat(browser.find("h1").getText()).startsWith("Start with Redis");
        } finally {
            browser.scripts(true);
        }
    }
}

"""A browser without a window, which Selenium drives: Debian's Chromium."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
)


def why_not() -> str:
    """The reason why there is no browser; "" if there is one."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "Selenium is not installed: pip install selenium"
    if not any(map(shutil.which, NAMES)) or not shutil.which("chromedriver"):
        return "Chromium is not installed: apt-get install chromium chromium-driver"
    return ""


class Browser:
    """A window, and the page in it."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, width: int = 1280, height: int = 800, scheme: str = "light", scale: int = 1) -> None:
        """Open a page in a window of this size, with this preferred color scheme."""
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 720}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.get(path.as_uri())
        self.complaints()

    def run(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript; its `return` is the result."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        """The first element that a CSS selector selects."""
        return self.driver.find_element("css selector", selector)

    def click_line(self, column: str, number: int) -> None:
        """Click on a row of a column, which counts from 0."""
        self.find(f"#{column}-{number} .text").click()

    def hover(self, selector: str) -> None:
        """Move the pointer onto an element."""
        from selenium.webdriver import ActionChains

        element = self.find(selector)
        self.run("arguments[0].scrollIntoView()", element)
        ActionChains(self.driver).move_to_element(element).perform()

    def press(self, *keys: str) -> None:
        """Press keys, by their names in Selenium ("ARROW_DOWN") or as characters."""
        from selenium.webdriver.common.keys import Keys

        self.driver.switch_to.active_element.send_keys(*(getattr(Keys, key, key) for key in keys))

    def show(self, *columns: str) -> None:
        """Show these columns, and no others."""
        for tab in self.driver.find_elements("css selector", "nav button"):
            wanted = tab.get_attribute("data-pane") in columns
            if (tab.get_attribute("aria-pressed") == "true") != wanted:
                self.run("arguments[0].click()", tab)

    def lit(self, column: str) -> list[str]:
        """The highlighted lines of a column."""
        script = "return [...document.querySelectorAll(arguments[0])].map((line) => line.textContent.trim())"
        return self.run(script, f'[data-pane="{column}"] [aria-selected="true"] .text')

    def complaints(self) -> list[str]:
        """The page's output to the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The addresses that the page asked for since the last time."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [parameters["request"]["url"] for parameters in sent]


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser, and end it."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = next(filter(None, map(shutil.which, NAMES)))
        for option in (*OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
        try:
            yield Browser(driver)
        finally:
            driver.quit()

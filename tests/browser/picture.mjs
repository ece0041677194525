// A page as a picture: `node picture.mjs PAGE.html PICTURE.png`. Of the charts over time the first will do.
import { launch, open } from "./browser.mjs";

const [file, picture] = process.argv.slice(2);
const browser = await launch();
try {
  const { page } = await open(browser, file, { viewport: { width: 1000, height: 600 } });
  await page.locator("summary").first().click();
  const hidden = ".chart ~ .chart, .chart details, #multiples, h3:has(+ #multiples), footer, .hint, details, #heat-scale, #scatter-note, "
    + "#time-section .controls";
  await page.addStyleTag({ content: `${hidden} { display: none }` });
  await page.locator("#slider").fill("20");
  await page.screenshot({ path: picture, fullPage: true });
} finally {
  await browser.close();
}

// The texts of the page that are hard to read on what is behind them: less than 4.5 to 1, the limit of WCAG 2 AA.
const channels = colour => colour.match(/[\d.]+/g).map(Number);
const isOpaque = colour => channels(colour).length === 3 || channels(colour)[3] === 1;
function light(colour) {
  const [r, g, b] = channels(colour).map(it => it / 255).map(it => (it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function behind(element) {
  for (let at = element; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (isOpaque(colour)) return colour;
  }
  throw new Error("nothing behind " + element.outerHTML);
}
const hard = new Set();
for (const element of document.querySelectorAll("body *")) {
  const hasText = [...element.childNodes].some(it => it.nodeType === Node.TEXT_NODE && it.data.trim());
  const style = getComputedStyle(element);
  if (!hasText || !element.getClientRects().length || style.opacity === "0") continue;
  const [more, less] = [light(style.color), light(behind(element))].sort((a, b) => b - a);
  const contrast = (more + 0.05) / (less + 0.05);
  if (contrast < 4.5) hard.add(`${element.tagName}.${element.className} ${style.color} on ${behind(element)}: ${contrast.toFixed(2)}`);
}
return [...hard];
